/** Every error that the API answers: code, status and default message. Source: interface specification, section 7. */
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
      'Use HTTPS: this request came over plain HTTP. Others may have read its key on the way: have it replaced.',
  },
  NOT_FOUND: { status: 404, message: 'There is no such path.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This path does not take this method.' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The request body is larger than 64 KiB.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'Send the body as JSON, with the header "Content-Type: application/json".',
  },
  IDEMPOTENCY_CONFLICT: {
    status: 422,
    message: 'This Idempotency-Key was used with another request body: use a new key for a new lead.',
  },
  RATE_LIMITED: { status: 429, message: 'Too many requests: wait as long as Retry-After says.' },
  INTERNAL_ERROR: { status: 500, message: 'Something went wrong on our side.' },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'The service is temporarily unavailable: try again as Retry-After says.',
  },
} as const

export type ErrorCode = keyof typeof errorCatalogue

/** An error that the API answers as it stands here. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly headers: Record<string, string>

  constructor(
    code: ErrorCode,
    message: string = errorCatalogue[code].message,
    headers: Record<string, string> = {},
  ) {
    super(message)
    this.code = code
    this.headers = headers
  }

  get status(): number {
    return errorCatalogue[this.code].status
  }
}

/** The body of every failure: interface specification, section 4. */
export function failureBody(code: ErrorCode, message: string = errorCatalogue[code].message) {
  return { success: false as const, error: { code, message } }
}

/** An unknown lead and another partner's lead are the same to whoever asks. */
export const unknownLead = () => new ApiError('NOT_FOUND', 'Lead not found.')
