/** Why an attempt failed, as attempts are filtered and counted by it. */
export type ErrorCode =
  | 'invalid_url'
  | 'blocked_address'
  | 'dns_error'
  | 'connection_refused'
  | 'connection_reset'
  | 'unreachable'
  | 'tls_error'
  | 'timeout'
  | 'redirect'
  | 'http_error'
  | 'invalid_response'
  | 'canceled'
  | 'network_error'

/** What became of one attempt. */
export interface Outcome {
  /** Whether the endpoint took the event: a complete 2xx answer in time. */
  ok: boolean
  status: number | null
  /** The address that was connected to, or refused. */
  address: string | null
  durationMs: number
  errorCode: ErrorCode | null
  /** What the partner can do about the failure, in plain words. */
  hint: string | null
  responseHeaders: Record<string, string> | null
  /** The beginning of the answer's body, as text. */
  responseBody: string | null
  /** The answer's `Retry-After` header as it came. */
  retryAfter: string | null
}
