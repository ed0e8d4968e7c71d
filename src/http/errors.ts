/** Every error of the API: code, HTTP status and default message. Source: interface specification, section 7. */
export const errorCatalogue = {
  INVALID_PAYLOAD: { status: 400, message: 'The request body is invalid.' },
  AUTH_FAILED: {
    status: 401,
    message:
      'Authentication failed: send the header "Authorization: Service-Key <API_KEY>" with a valid key.',
  },
  HTTPS_REQUIRED: {
    status: 403,
    message:
      'Use HTTPS, at the public address. This request came over plain HTTP, and its key may have been read by others: ask us to replace it.',
  },
  NOT_FOUND: { status: 404, message: 'Lead not found.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This path does not support this method.' },
  NO_ENDPOINT: {
    status: 409,
    message: 'You have no endpoint yet. Set one with POST /v1/set-endpoint, then certify it.',
  },
  NO_CANDIDATE: {
    status: 409,
    message: 'There is no URL to certify. Set one with POST /v1/set-endpoint.',
  },
  PAUSED_BY_STAFF: {
    status: 409,
    message: 'Our staff paused your endpoint. Contact us to resume it.',
  },
  SECRET_REPLACED: {
    status: 409,
    message:
      'The signing secret of the first response was replaced afterwards, or the change was canceled. Send the request with a new Idempotency-Key to get a new secret.',
  },
  LEAD_CLOSED: {
    status: 409,
    message: 'The lead is closed. Create another one with POST /v1/create-lead.',
  },
  LEAD_HELD: {
    status: 409,
    message: 'The lead is under a legal hold and cannot be erased.',
  },
  LEAD_FULL: {
    status: 409,
    message:
      'The lead has reached the sandbox’s limit of 1,000 events. Create another lead with POST /v1/create-lead.',
  },
  CLOCK_MOVING: {
    status: 409,
    message:
      'The lead’s clock is moving, or waits for your endpoint or the score provider. Repeat the request to wait until it stops, or send a different one once get-clock returns "moving": false.',
  },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The request body is larger than 64 KiB.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'Send the body as JSON with the header "Content-Type: application/json".',
  },
  IDEMPOTENCY_CONFLICT: {
    status: 422,
    message:
      'This Idempotency-Key was already used with a different request body. Use a new key for a new request.',
  },
  RATE_LIMITED: {
    status: 429,
    message: 'Too many requests. Retry-After says in how many seconds to try again.',
  },
  INTERNAL_ERROR: {
    status: 500,
    message:
      'Something went wrong on our side. Send the request again; if that fails too, contact us and quote X-Request-Id.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'The service is temporarily unavailable. Retry-After says in how many seconds to try again.',
  },
} as const

export type ErrorCode = keyof typeof errorCatalogue

/** A field of a request, and what is wrong with it. */
export interface FieldProblem {
  /** Its path as it was sent, such as `events[0].event_name`; or the name of a header. */
  field: string
  /** What the field must be, worded to follow its name. It repeats only a character that is not allowed. */
  problem: string
}

/** Further fields of some errors, for programs. */
interface ErrorDetails {
  /** With INVALID_PAYLOAD: the fields that are wrong. */
  fields?: readonly FieldProblem[]
  /** With list-events: the cursor to continue with. */
  next?: string
  /** With a 409 or a 422 about a lead: that lead. */
  lead_id?: number | undefined
}

/** An error that the API sends unchanged. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly headers: Record<string, string>
  readonly details: ErrorDetails

  constructor(
    code: ErrorCode,
    message: string = errorCatalogue[code].message,
    headers: Record<string, string> = {},
    details: ErrorDetails = {},
  ) {
    super(message)
    this.code = code
    this.headers = headers
    this.details = details
  }

  get status(): number {
    return errorCatalogue[this.code].status
  }

  /** The response's body: interface specification, section 4. INVALID_PAYLOAD always has `fields`. */
  get body() {
    const { code, message, details } = this
    const always: ErrorDetails = code === 'INVALID_PAYLOAD' ? { fields: [] } : {}
    return { success: false as const, error: { code, message, ...always, ...details } }
  }
}

/** `message` names what is wrong with the request, and `fields` says it of each field that is. */
export const invalidPayload = (message: string, fields: readonly FieldProblem[] = []) =>
  new ApiError('INVALID_PAYLOAD', message, {}, { fields })

/** What is wrong with a request: with one of its fields, or as a whole. */
export type Fault = Partial<FieldProblem> & Pick<FieldProblem, 'problem'>

/** The message names all faults, in order. */
export function invalidRequest(...faults: readonly Fault[]): ApiError {
  const fields = faults.flatMap(({ field, problem }) => (field === undefined ? [] : { field, problem }))
  const lines = faults.map(({ field, problem }) => (field === undefined ? problem : `${field} ${problem}`))
  return invalidPayload(`Invalid request: ${lines.join('; ')}.`, fields)
}

/** For a body that is no JSON object. */
export const noObject = () => invalidRequest({ problem: 'the request body must be a JSON object' })

/** For a lead that does not exist, and for another partner's. */
export const unknownLead = () => new ApiError('NOT_FOUND')

/** Says when to try again, in words and in `Retry-After`; `what` says why not now. */
export function retryLater(code: 'RATE_LIMITED' | 'SERVICE_UNAVAILABLE', what: string, seconds: number) {
  const wait = Math.max(1, Math.ceil(seconds))
  const words = `${wait} second${wait === 1 ? '' : 's'}`
  return new ApiError(code, `${what} Try again in ${words}.`, { 'retry-after': String(wait) })
}

/** While PostgreSQL or Temporal cannot be reached, or a migration is missing. */
export const unavailable = () =>
  retryLater('SERVICE_UNAVAILABLE', 'The service is temporarily unavailable.', 5)
