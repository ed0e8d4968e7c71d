import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All public unicast IPv6 addresses in use (RFC 4291, IANA); whatever is made later stays refused. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/** Public by its number, yet inside Azure it is the host's own service, as 169.254.169.254 is elsewhere. */
const AZURE_HOST = '168.63.129.16'

/**
 * Whether `address` is one of the public internet: not loopback, private, link-local (the metadata
 * service of clouds), carrier-grade NAT, documentation, benchmark, multicast or reserved, in IPv4 and
 * IPv6. An IPv4 address inside an IPv6 one counts as itself when mapped; NAT64, 6to4 and Teredo, which
 * a gateway may turn into any IPv4 address, are refused. So is anything that is no address.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return isPublic(ipaddr.parse(address))
  // Written anew by the URL parser, in hexadecimal: ipaddr.js takes `::8.8.8.8`, which is an IPv6
  // address, for the IPv4 address in it. One with a zone (`%eth0`) it refuses.
  const canonical = family === 6 ? URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) : undefined
  return canonical !== undefined && isPublic(ipaddr.process(canonical))
}

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast' || address.toString() === AZURE_HOST) return false
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST)
}
