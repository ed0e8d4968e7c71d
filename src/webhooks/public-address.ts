import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All public unicast IPv6 addresses in use today (RFC 4291, IANA). */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/** In a public range, but inside Azure it is the host's own service, as 169.254.169.254 is elsewhere. */
const AZURE_HOST = '168.63.129.16'

/**
 * Whether `address` is on the public internet: not loopback, private, link-local (cloud metadata services),
 * carrier-grade NAT, documentation, benchmarking, multicast or reserved. An IPv4-mapped IPv6 address counts as its IPv4
 * address. NAT64, 6to4 and Teredo are not public, since a gateway can turn them into any IPv4 address.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return isPublic(ipaddr.parse(address))
  // The URL parser writes it in hexadecimal: ipaddr.js would take the IPv6 address `::8.8.8.8` for the IPv4 address.
  // It rejects an address with a zone (`%eth0`).
  const canonical = family === 6 ? URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) : undefined
  return canonical !== undefined && isPublic(ipaddr.process(canonical))
}

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast' || address.toString() === AZURE_HOST) return false
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST)
}
