import ipaddr from 'ipaddr.js'

/** All public unicast IPv6 addresses in use (RFC 4291, IANA); whatever is made later stays refused. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/**
 * Whether `address` is one of the public internet: not loopback, private, link-local (the metadata
 * service of clouds), carrier-grade NAT, documentation, benchmark, multicast or reserved, in IPv4 and
 * IPv6. An IPv4 address inside an IPv6 one counts as itself when mapped; NAT64, 6to4 and Teredo, which
 * a gateway may turn into any IPv4 address, are refused. So is anything that is no address.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST)
}
