import { expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { checkEndpointUrl } from '../../src/webhooks/endpoint-url.ts'
import { isAllowedAddress } from '../../src/webhooks/public-address.ts'

const isPublicAddress = (address: string) => isAllowedAddress(address, { allowPrivateNetwork: false })
const isLocalAddress = (address: string) => isAllowedAddress(address, { allowPrivateNetwork: true })

/** First address and number of fixed bits, of the blocks of IANA's registry of special IPv4 addresses. */
const blocks: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]

const specialAddress = fc
  .record({ block: fc.constantFrom(...blocks), host: fc.nat({ max: 0xffffffff }) })
  .map(({ block: [first, bits], host }) => (number(first) + (host % 2 ** (32 - bits))) >>> 0)

/** Each part in decimal, octal or hexadecimal; the last of fewer than four parts holds the rest. */
const spelling = fc.record({
  parts: fc.integer({ min: 1, max: 4 }),
  bases: fc.array(fc.constantFrom(8, 10, 16), { minLength: 4, maxLength: 4 }),
  end: fc.constantFrom('', '.'),
})

test('no special IPv4 address is public, in whatever spelling a URL has it', () => {
  fc.assert(
    fc.property(specialAddress, spelling, (address, { parts, bases, end }) => {
      const numbers = Array.from({ length: parts }, (_, place) =>
        place === parts - 1 ? address % 2 ** (8 * (4 - place)) : (address >>> (24 - 8 * place)) & 255,
      )
      const host = numbers.map((value, place) => spelled(value, bases[place] ?? 10)).join('.') + end
      expect(isPublicAddress(dotted(address))).toBe(false)
      const fault = checkEndpointUrl(`http://${host}/`, {
        environment: 'sandbox',
        allowPrivateNetwork: false,
      })
      expect(fault?.errorCode).toBe('blocked_address')
    }),
    { numRuns: 2000 },
  )
})

test('no IPv6 address around a special IPv4 address is public', () => {
  const prefixes = [
    '::',
    '::ffff:',
    '::ffff:0:',
    '64:ff9b::',
    '64:ff9b:1::',
    '2002:0:0::',
    '2001::',
    'fe80::',
  ]
  fc.assert(
    fc.property(specialAddress, fc.constantFrom(...prefixes), (address, prefix) => {
      expect(isPublicAddress(`${prefix}${dotted(address)}`)).toBe(false)
    }),
  )
})

const privateBlocks = ['10.0.0.0', '127.0.0.0', '172.16.0.0', '192.168.0.0']
const neverAddress = specialAddress.filter((address) =>
  blocks.every(
    ([first, bits]) =>
      !privateBlocks.includes(first) || Math.floor((address - number(first)) / 2 ** (32 - bits)) !== 0,
  ),
)

test('a private network is loopback, RFC 1918 and unique local addresses, and no other special address', () => {
  fc.assert(
    fc.property(neverAddress, fc.constantFrom('', '::ffff:'), (address, prefix) => {
      expect(isLocalAddress(`${prefix}${dotted(address)}`)).toBe(false)
    }),
    { numRuns: 2000 },
  )
})

test('no IPv6 address outside 2000::/3 is public', () => {
  const outside = fc
    .oneof(
      fc.ipV6(),
      fc.ipV4().map((inner) => `::${inner}`),
    )
    .filter((address) => !/^[23][0-9a-f]{3}:/i.test(address))
  fc.assert(fc.property(outside, (address) => expect(isPublicAddress(address)).toBe(mapsPublicIPv4(address))))
})

function number(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
}

function spelled(value: number, base: number): string {
  return `${base === 16 ? '0x' : base === 8 ? '0' : ''}${value.toString(base)}`
}

/** The one exception: `::ffff:8.8.8.8` is the public IPv4 address itself. */
function mapsPublicIPv4(address: string): boolean {
  const mapped = /^(?:0{0,4}:)*:?ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  return mapped?.[1] !== undefined && isPublicAddress(mapped[1])
}
