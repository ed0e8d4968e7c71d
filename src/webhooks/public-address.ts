import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All public unicast IPv6 addresses in use today (RFC 4291, IANA). */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/** In a public range, but inside Azure it is the host's own service, as 169.254.169.254 is elsewhere. */
const AZURE_HOST = '168.63.129.16'

/** By the names of ipaddr.js; `private` is RFC 1918. */
const PRIVATE = ['loopback', 'private', 'uniqueLocal']

/** Inside a cloud, these private addresses are its metadata service, as 169.254.169.254 is: AWS and Google. */
const METADATA = ['fd00:ec2::254', 'fd20:ce::254']

/** `private`: loopback, RFC 1918 and unique local addresses. `never`: what no webhook goes to, on whatever network. */
type AddressKind = 'public' | 'private' | 'never'

/**
 * Whether a webhook may go to `address`.
 *
 * @param options.allowPrivateNetwork for development and tests on one machine.
 */
export function isAllowedAddress(
  address: string,
  { allowPrivateNetwork }: { allowPrivateNetwork: boolean },
): boolean {
  const kind = kindOf(address)
  return kind === 'public' || (allowPrivateNetwork && kind === 'private')
}

/**
 * An IPv4-mapped IPv6 address counts as its IPv4 address. NAT64, 6to4 and Teredo are never used, since a gateway can turn
 * them into any IPv4 address. Neither are link-local addresses (cloud metadata services), carrier-grade NAT,
 * documentation, benchmarking, multicast, unspecified and reserved ones.
 */
function kindOf(address: string): AddressKind {
  const family = isIP(address)
  if (family === 4) return kindOfParsed(ipaddr.parse(address))
  // The URL parser writes it in hexadecimal: ipaddr.js would take the IPv6 address `::8.8.8.8` for the IPv4 address.
  // It rejects an address with a zone (`%eth0`).
  const canonical = family === 6 ? URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) : undefined
  return canonical === undefined ? 'never' : kindOfParsed(ipaddr.process(canonical))
}

function kindOfParsed(address: ipaddr.IPv4 | ipaddr.IPv6): AddressKind {
  const range = address.range()
  if (PRIVATE.includes(range)) return METADATA.includes(address.toString()) ? 'never' : 'private'
  if (range !== 'unicast' || address.toString() === AZURE_HOST) return 'never'
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST) ? 'public' : 'never'
}
