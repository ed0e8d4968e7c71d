import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Fastify's names for networks. */
const NAMES = ['loopback', 'linklocal', 'uniquelocal']
/** 10.0.0.0/8 is the widest private network of IPv4, fc00::/7 of IPv6. */
const WIDEST = { ipv4: 8, ipv6: 16, uniqueLocal: 7 }
const MAPPED_BITS = 96
const IPV4_MAPPED = ipaddr.parse('::ffff:0:0')

/**
 * Whether `entry` is an IP address, or a network in CIDR notation that is not too wide to be one of proxies. Fastify's
 * hop counts and `true` are not allowed.
 */
export function isProxy(entry: string): boolean {
  if (NAMES.includes(entry)) return true
  const [address = '', bits] = entry.split('/', 2)
  if (isIP(address) === 0) return false
  if (bits === undefined) return true
  if (!ipaddr.isValidCIDR(entry)) return false
  const [network, prefix] = ipaddr.parseCIDR(entry)
  if (network.kind() === 'ipv4') return prefix >= WIDEST.ipv4
  // an IPv4 address counts as the IPv6 address that it is mapped to
  if (IPV4_MAPPED.match(network, prefix)) return prefix >= MAPPED_BITS + WIDEST.ipv4
  return prefix >= (network.range() === 'uniqueLocal' ? WIDEST.uniqueLocal : WIDEST.ipv6)
}
