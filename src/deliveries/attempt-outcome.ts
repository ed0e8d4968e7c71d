/** The endpoint's response, as far as it arrived. */
export interface Answer {
  /** The HTTP status; `null` when none arrived. */
  status: number | null
  responseHeaders: Record<string, string> | null
  /** The beginning of the body, as text. */
  responseBody: string | null
  /** The `Retry-After` header, unparsed. */
  retryAfter: string | null
}

/** How one HTTP request ended. */
export interface AttemptOutcome extends Answer {
  /** Whether the endpoint accepted the event: a complete 2xx response in time. */
  ok: boolean
  /** The address that was connected to, or blocked. */
  address: string | null
  durationMs: number
  errorCode: string | null
  /** What the partner can do about the failure. */
  hint: string | null
}

/** What a request was signed with, beside its id and body. */
export interface Signature {
  at: Date
  /** One for each secret that was live. */
  signature: string
}
