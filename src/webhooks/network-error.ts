import { errors } from 'undici'
import { BlockedAddressError, LookupError } from './address-guard.ts'
import type { ErrorCode } from './outcome.ts'

export interface Diagnosis {
  errorCode: ErrorCode
  hint: string
  /** The address the error happened with, where known. */
  address: string | null
}

const HINTS = {
  timeout:
    'your endpoint did not send a complete answer in time: answer 200 at once and do the work afterwards',
  connection_refused:
    'nothing listens on that port at your endpoint: check that it runs and that its firewall lets us in',
  connection_reset: 'your endpoint closed the connection before it had answered in full',
  unreachable: "no route leads to your endpoint's address: check its DNS records and its network",
  dns_error: "your endpoint's name could not be looked up: check its DNS records",
  blocked_address:
    "your endpoint's name leads to an address that is not public: all its DNS records must be public",
  tls_error: 'your endpoint did not complete the TLS handshake: it must speak TLS 1.2 or newer on that port',
  invalid_response: 'your endpoint answered with something that is not valid HTTP/1.1',
  network_error: 'the request failed',
} as const satisfies Partial<Record<ErrorCode, string>>

const CODES: Record<string, keyof typeof HINTS> = {
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  ETIMEDOUT: 'timeout',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
}

const CONNECT_TIMEOUT_HINT =
  'we could not connect to your endpoint in time: check its DNS records, address and firewall'

const CERTIFICATE_HINTS: Record<string, string> = {
  CERT_HAS_EXPIRED: "your endpoint's TLS certificate has expired: renew it",
  CERT_NOT_YET_VALID: "your endpoint's TLS certificate is not valid yet: check its dates",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "your endpoint's TLS certificate is for another host name: install one for this name",
  DEPTH_ZERO_SELF_SIGNED_CERT:
    "your endpoint's TLS certificate is self-signed: install one from a public authority",
  SELF_SIGNED_CERT_IN_CHAIN:
    "your endpoint's TLS certificate is from a private authority: install one from a public authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'your endpoint sends its TLS certificate without the intermediate ones: install the whole chain',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    "your endpoint's TLS certificate is from an unknown authority: install one from a public authority with its whole chain",
}

/** What a failed request means, and what the partner can do about it. */
export function diagnose(error: unknown): Diagnosis {
  const cause = innermost(error)
  const { code = '', message = '', address } = cause as { code?: string; message?: string; address?: string }
  const diagnosis = (errorCode: keyof typeof HINTS, hint: string = HINTS[errorCode]) => {
    return { errorCode, hint, address: address ?? null }
  }
  if (cause instanceof BlockedAddressError) return diagnosis('blocked_address')
  if (cause instanceof LookupError) return diagnosis('dns_error')
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return diagnosis('timeout', CONNECT_TIMEOUT_HINT)
  const certificate = CERTIFICATE_HINTS[code]
  if (certificate !== undefined) return diagnosis('tls_error', certificate)
  if (/^(?:ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_|EPROTO$)/.test(code)) return diagnosis('tls_error')
  if (message.includes('before secure TLS connection')) return diagnosis('tls_error')
  if (cause instanceof errors.HTTPParserError || message === 'bad upgrade')
    return diagnosis('invalid_response')
  if (/^(?:UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES)/.test(code)) return diagnosis('invalid_response')
  const known = CODES[code]
  if (known !== undefined) return diagnosis(known)
  return diagnosis('network_error', `${HINTS.network_error} (${code || 'unknown'})`)
}

/** With several addresses Node reports one error around those of the attempts; the first says most. */
function innermost(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
}
