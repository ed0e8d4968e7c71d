import { isIP } from 'node:net'
import type { Environment } from '../values.ts'
import type { Diagnosis } from './diagnosis.ts'
import { isAllowedAddress } from './public-address.ts'

export interface EndpointPolicy {
  environment: Environment
  /** Allows loopback, RFC 1918 and unique local addresses: for development and tests on one machine. */
  allowPrivateNetwork: boolean
}

const MAX_URL_LENGTH = 2048
const PRODUCTION_PORTS = ['', '443', '8443']

/**
 * Why `url` cannot be an endpoint under `policy`, or `null` when it can. Literal addresses, in any spelling, and
 * `localhost` are checked here; the addresses of a host name are checked at each connection.
 */
export function checkEndpointUrl(url: string, policy: EndpointPolicy): Diagnosis | null {
  const hint = invalidity(url, policy.environment)
  if (hint !== null) return { errorCode: 'invalid_url', hint }
  if (isAllowedHost(new URL(url).hostname, policy)) return null
  const others = policy.allowPrivateNetwork ? ', or to a private one (loopback, RFC 1918, ULA)' : ''
  return { errorCode: 'blocked_address', hint: `the URL must point to a public internet address${others}` }
}

function invalidity(url: string, environment: Environment): string | null {
  if (url.length > MAX_URL_LENGTH) return `the URL is longer than ${MAX_URL_LENGTH} characters`
  // parsers drop or rewrite these, each in its own way: the URL that staff see must be the one we call
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\u007f\\]/.test(url))
    return 'the URL contains a space, a control character or a backslash'
  const parsed = URL.parse(url)
  if (parsed === null) return 'it is not an absolute URL'
  // parsers accept any number of slashes
  if (!/^https?:\/\/[^/]/i.test(url))
    return `the URL must begin with https://${environment === 'sandbox' ? ' or http://' : ''}`
  if (parsed.username !== '' || parsed.password !== '')
    return 'the URL must not contain a user name or password'
  if (url.includes('#')) return 'the URL must not have a fragment (#…)'
  if (environment === 'sandbox') return null
  if (parsed.protocol !== 'https:') return 'production endpoints must use https'
  return PRODUCTION_PORTS.includes(parsed.port) ? null : 'production endpoints must use port 443 or 8443'
}

function isAllowedHost(hostname: string, policy: EndpointPolicy): boolean {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  if (isIP(host) !== 0) return isAllowedAddress(host, policy)
  const name = host.endsWith('.') ? host.slice(0, -1) : host
  return policy.allowPrivateNetwork || !(name === 'localhost' || name.endsWith('.localhost'))
}
