import { BlockedAddressError, LookupError } from './address-guard.ts'

/** Why an attempt failed. */
export interface Diagnosis {
  /** Attempts are filtered and counted by it. */
  errorCode: keyof typeof HINTS | 'invalid_url' | 'redirect' | 'http_error'
  /** What the partner can do about it. */
  hint: string
}

const HINTS = {
  timeout:
    'your endpoint did not send a complete response in time: respond with 200 first, then process the event',
  connection_refused:
    'your endpoint refused the connection: check that your server listens on that port and that its firewall allows our requests',
  connection_reset:
    'your endpoint closed the connection before it sent a complete response: look for the error in its log; if that port expects TLS, the URL must begin with https://',
  unreachable: 'there is no network route to your endpoint: check its DNS records and its network',
  dns_error: 'the host name of your endpoint did not resolve: check its DNS records',
  blocked_address:
    'the host name of your endpoint resolves to an address that is not public: all its DNS records must be public',
  tls_error:
    'the TLS handshake with your endpoint failed: it must support TLS 1.2 or newer on that port, and not speak plain HTTP there',
  invalid_response: 'your endpoint sent a response that is not valid HTTP/1.1',
  network_error: 'the request failed',
}

const CODES = [
  ['timeout', /^(?:UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT|ETIMEDOUT)$/],
  ['connection_refused', /^ECONNREFUSED$/],
  ['connection_reset', /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/],
  ['unreachable', /^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/],
  ['tls_error', /^(?:ERR_SSL_|ERR_TLS_|EPROTO$)/],
  ['invalid_response', /^(?:HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES|ERR_ASSERTION$)/],
] as const

const CERTIFICATE = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/

const diagnosis = (errorCode: keyof typeof HINTS, hint = HINTS[errorCode]): Diagnosis => ({ errorCode, hint })

/** The time limit was reached, before or after the request was sent. */
export const diagnoseTimeout = (isSent: boolean) =>
  diagnosis('timeout', isSent ? HINTS.timeout : NOT_CONNECTED)

const NOT_CONNECTED =
  'we could not connect to your endpoint in time: check its DNS records, address and firewall'

/** What the error of a request means. */
export function diagnose(error: unknown): Diagnosis {
  // with several addresses, Node reports one error around those of the attempts
  const cause: unknown = error instanceof AggregateError ? (error.errors[0] ?? error) : error
  const { name, code = '', message = '' } = cause as { name?: string; code?: string; message?: string }
  if (cause instanceof BlockedAddressError) return diagnosis('blocked_address')
  if (cause instanceof LookupError) return diagnosis('dns_error')
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return diagnoseTimeout(false)
  if (CERTIFICATE.test(code))
    return diagnosis(
      'tls_error',
      `the TLS certificate of your endpoint is not valid (${code.toLowerCase().replaceAll('_', ' ')}): install one for its host name from a public authority, with the full chain`,
    )
  // its code is that of a reset
  if (message.includes('before secure TLS connection')) return diagnosis('tls_error')
  if (name === 'HTTPParserError' || message === 'bad upgrade') return diagnosis('invalid_response')
  const [known] = CODES.find(([, pattern]) => pattern.test(code)) ?? []
  return known === undefined
    ? diagnosis('network_error', `${HINTS.network_error} (${code || 'unknown'})`)
    : diagnosis(known)
}

/**
 * What a status other than 2xx means.
 *
 * @param clock what is wrong with the receiver's clock, in words.
 */
export function diagnoseStatus(status: number, clock?: string): Diagnosis {
  const errorCode = status >= 300 && status < 400 ? 'redirect' : 'http_error'
  const isRefusal = status === 400 || status === 401 || status === 403
  return { errorCode, hint: `your endpoint answered ${status}: ${(isRefusal && clock) || advice(status)}` }
}

const OR_SIGNATURE =
  'if your signature check refused it: is the secret that of this URL, the body raw, and the clock right?'

function advice(status: number): string {
  if (status >= 300 && status < 400) return 'we do not follow redirects; register the final URL'
  if (status === 400)
    return `it must accept every event, including types that you do not use; ${OR_SIGNATURE}`
  if (status === 401 || status === 403)
    return `accept requests without a login, and verify the webhook-signature header instead; ${OR_SIGNATURE}`
  if (status === 404) return 'check the path of the registered URL'
  if (status === 410) return 'for a webhook, this pauses the endpoint until it accepts a probe'
  if (status === 429) return 'we retry later, and wait for its Retry-After header if it sends one'
  if (status >= 500) return 'look for the error in its log'
  return 'respond with 200 to every event, including types that you do not use'
}

/** Receivers refuse a `webhook-timestamp` that is further than this from their clock. */
const TOLERANCE_MS = 5 * 60 * 1000

/**
 * What is wrong with a receiver's clock, by the `date` header of its response; `undefined` if it is right or unknown.
 *
 * @param at when the response came, in milliseconds.
 */
export function clockAdvice(date: string | undefined, at: number): string | undefined {
  const off = Date.parse(date ?? '') - at
  if (!(Math.abs(off) > TOLERANCE_MS)) return undefined
  const minutes = Math.round(Math.abs(off) / 60_000)
  const direction = off < 0 ? 'behind' : 'ahead of'
  return `by its date header, the clock of your server is ${minutes} minutes ${direction} ours, so it refuses every webhook-timestamp: correct the clock`
}
