import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { inNetworks, networkOf, withoutPort } from '../../src/core/values/networks.ts'

describe('an address or network', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7/32', '203.0.113.7'],
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['0.0.0.0/1', '0.0.0.0/1'],
    ['2001:DB8:0:0::/32', '2001:db8::/32'],
    ['2001:db8::1', '2001:db8::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.0/120', '203.0.113.0/24'],
  ])('%s is kept as %s', (given, kept) => {
    expect(networkOf(given)).toBe(kept)
    expect(networkOf(kept)).toBe(kept)
  })

  it.each([
    ['', 'is neither an IP address nor a network such as 203.0.113.0/24'],
    ['lender.example', 'is neither'],
    ['203.0.113', 'is neither'],
    ['1', 'is neither'],
    ['0x7f.1', 'is neither'],
    ['203.0.113.07', 'is neither'],
    ['203.0.113.0/33', 'is neither'],
    ['203.0.113.0/024', 'is neither'],
    ['203.0.113.0/', 'is neither'],
    ['203.0.113.0/24/24', 'is neither'],
    ['203.0.113.0/255.255.255.0', 'is neither'],
    ['203.0.113.0-203.0.113.9', 'is neither'],
    ['2001:db8::/129', 'is neither'],
    ['fe80::1%eth0', 'is neither'],
    ['*', 'is neither'],
    ['0.0.0.0/0', 'is every address'],
    ['::/0', 'is every address'],
    ['::ffff:0.0.0.0/96', 'is every address'],
    ['203.0.113.7/24', 'use 203.0.113.0/24'],
    ['2001:db8::1/32', 'use 2001:db8::/32'],
    ['::ffff:203.0.113.7/120', 'use 203.0.113.0/24'],
  ])('is not %j', (given, fault) => {
    expect(() => networkOf(given)).toThrow(fault)
  })
})

describe('a list of networks', () => {
  it.each([
    ['203.0.113.7', ['203.0.113.7'], true],
    ['203.0.113.8', ['203.0.113.7'], false],
    ['::ffff:203.0.113.7', ['203.0.113.7'], true],
    ['::ffff:cb00:7107', ['203.0.113.0/24'], true],
    ['203.0.114.1', ['203.0.113.0/24', '203.0.114.0/28'], true],
    ['203.0.114.16', ['203.0.113.0/24', '203.0.114.0/28'], false],
    ['2001:db8:40::9', ['2001:db8:40::/48'], true],
    ['2001:db8:41::9', ['2001:db8:40::/48'], false],
    ['203.0.113.7', ['2001:db8::/32'], false],
    ['2001:db8::1', ['203.0.113.0/24'], false],
    // what a proxy may write in X-Forwarded-For
    ['unknown', ['203.0.113.0/24'], false],
    ['_hidden', ['203.0.113.0/24'], false],
    ['203.0.113.7:443', ['203.0.113.0/24'], false],
    ['', ['203.0.113.0/24'], false],
    ['203.0.113.7', [], false],
  ])('%s in %j: %p', (address, networks, isIn) => {
    expect(inNetworks(networks)(address)).toBe(isIn)
  })

  it('holds exactly the addresses that begin with its bits', () => {
    const bits = (address: number) => address.toString(2).padStart(32, '0')
    const dotted = (address: number) => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
    const address = fc.nat({ max: 0xffffffff })
    fc.assert(
      fc.property(address, address, fc.integer({ min: 1, max: 32 }), (one, other, size) => {
        const first = Number.parseInt(bits(one).slice(0, size).padEnd(32, '0'), 2)
        const isIn = inNetworks([networkOf(`${dotted(first)}/${size}`)])
        expect(isIn(dotted(one))).toBe(true)
        expect(isIn(dotted(other))).toBe(bits(one).slice(0, size) === bits(other).slice(0, size))
      }),
    )
  })
})

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:50123', '203.0.113.7'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[::ffff:203.0.113.7]:443', '::ffff:203.0.113.7'],
  ['2001:db8::1', '2001:db8::1'],
  ['::1:443', '::1:443'],
  ['unknown', 'unknown'],
  ['lender.example:443', 'lender.example:443'],
  ['', ''],
])('%j is the address %j', (forwarded, address) => {
  expect(withoutPort(forwarded)).toBe(address)
})
