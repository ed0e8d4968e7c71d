import { isIP } from 'node:net'
import { isPublicAddress } from './public-address.ts'

/** What an environment lets an endpoint be. */
export interface EndpointPolicy {
  environment: 'sandbox' | 'production'
  /** Lets loopback and private addresses through: for one machine and its tests only. */
  allowPrivateNetwork: boolean
}

export interface UrlFault {
  errorCode: 'invalid_url' | 'blocked_address'
  /** What is wrong and what to register instead, in plain words. */
  hint: string
}

const MAX_URL_LENGTH = 2048
const PRODUCTION_PORTS = ['', '443', '8443']

/**
 * Why `url` cannot be an endpoint under `policy`, or `null` when it can. Names are judged by their
 * addresses when connecting; a literal address in any spelling, and `localhost`, already here.
 */
export function checkEndpointUrl(url: string, policy: EndpointPolicy): UrlFault | null {
  const invalid = (hint: string): UrlFault => ({ errorCode: 'invalid_url', hint })
  if (url.length > MAX_URL_LENGTH) return invalid(`the URL is longer than ${MAX_URL_LENGTH} characters`)
  // URL parsers drop or rewrite these, each in its own way: what staff read must be what is called.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\u007f\\]/.test(url))
    return invalid('the URL has a space, a control character or a backslash')
  const parsed = URL.parse(url)
  if (parsed === null) return invalid('this is not an absolute URL')
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')
    return invalid('the URL must begin with https://')
  if (parsed.username !== '' || parsed.password !== '')
    return invalid('the URL must not hold a user name or password')
  if (url.includes('#')) return invalid('the URL must not have a fragment (#…)')
  if (policy.environment === 'production') {
    if (parsed.protocol !== 'https:') return invalid('production endpoints must use https')
    if (!PRODUCTION_PORTS.includes(parsed.port))
      return invalid('production endpoints must listen on port 443 or 8443')
  }
  if (!policy.allowPrivateNetwork && isLocal(hostOf(parsed))) {
    return { errorCode: 'blocked_address', hint: 'the URL must lead to a public internet address' }
  }
  return null
}

/** The host without the brackets that a URL puts around IPv6 addresses. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

function isLocal(host: string): boolean {
  if (isIP(host) !== 0) return !isPublicAddress(host)
  return /^(?:.*\.)?localhost\.?$/.test(host)
}
