import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

const MAPPED_BITS = 96
const BITS = { ipv4: 32, ipv6: 128 }

type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number]

/**
 * An IP address or a network in CIDR notation as it is kept: an address without its `/32`, and IPv4 addresses that are
 * mapped to IPv6 as IPv4.
 *
 * @throws {Error} a sentence that follows what was given, and says what to write instead.
 */
export function networkOf(text: string): string {
  const [address = '', bits, ...rest] = text.split('/')
  const isWellFormed = rest.length === 0 && (bits === undefined || /^(?:0|[1-9]\d{0,2})$/.test(bits))
  // a zone is an interface of one machine
  if (isIP(address) === 0 || address.includes('%') || !isWellFormed) throw new Error(NEITHER)
  const parsed = ipaddr.parse(address)
  const given = bits === undefined ? BITS[parsed.kind()] : Number(bits)
  if (given > BITS[parsed.kind()]) throw new Error(NEITHER)
  const network = withoutMapping([parsed, given])
  if (network[1] === 0) throw new Error('is every address')
  const first = firstOf(network)
  if (first !== network[0].toString())
    throw new Error(`is an address with the size of its network: use ${first}/${network[1]}`)
  return network[1] === BITS[network[0].kind()] ? first : `${first}/${network[1]}`
}

/** An address without the port that some proxies add to it in X-Forwarded-For, as Azure’s Application Gateway does. */
export function withoutPort(address: string): string {
  const [, ipv4, ipv6] = /^(?:([\d.]+)|\[([\da-f:.]+)\]):\d+$/i.exec(address) ?? []
  return ipv4 ?? ipv6 ?? address
}

const NEITHER = 'is neither an IP address nor a network such as 203.0.113.0/24'

function withoutMapping([address, bits]: Network): Network {
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= MAPPED_BITS
  return isMapped ? [address.toIPv4Address(), bits - MAPPED_BITS] : [address, bits]
}

function firstOf([address, bits]: Network): string {
  const { IPv4, IPv6 } = ipaddr
  const cidr = `${address.toString()}/${bits}`
  const first =
    address.kind() === 'ipv4' ? IPv4.networkAddressFromCIDR(cidr) : IPv6.networkAddressFromCIDR(cidr)
  return first.toString()
}
