import { ApiError, type ErrorCode, errorCatalogue, failureBody, unknownLead } from '../../errors.ts'

/** Errors that any request can get, and those of a request with a body. */
const everywhere: ErrorCode[] = [
  'AUTH_FAILED',
  'HTTPS_REQUIRED',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
]
const withBody: ErrorCode[] = ['INVALID_PAYLOAD', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']

/** Example messages that say more than the catalogue's. */
const messages: Partial<Record<ErrorCode, string>> = {
  INVALID_PAYLOAD: 'Invalid request: lead_id is required.',
  NOT_FOUND: unknownLead().message,
}

const retryAfter = {
  'Retry-After': {
    description: 'Seconds to wait before the next request.',
    schema: { type: 'integer', minimum: 1 },
  },
}

/** The body of every error response. */
export const failureSchema = {
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { type: 'boolean', const: false },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', enum: Object.keys(errorCatalogue) },
        message: { type: 'string', description: 'For people. Do not parse it: it may change.' },
      },
    },
  },
}

const shared = (code: ErrorCode) => new ApiError(code, messages[code])

/** Error responses by code, shared by all operations. */
export const failureResponses = Object.fromEntries(
  (Object.keys(errorCatalogue) as ErrorCode[]).map((code) => [code, failureResponse(shared(code))]),
)

function failureResponse({ code, message }: ApiError) {
  const waits = code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE'
  return {
    description: `\`${code}\`: ${message}`,
    ...(waits && { headers: retryAfter }),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Failure' },
        example: failureBody(code, message),
      },
    },
  }
}

/** The error responses of an operation by status: the shared ones, and `errors` in their place or beside them. */
export function failuresOf(errors: ApiError[], hasBody: boolean): Record<string, object> {
  const all = [...everywhere, ...(hasBody ? withBody : [])].map(shared).concat(errors)
  return Object.fromEntries(
    all.map((error) => [
      error.status,
      error.message === shared(error.code).message
        ? { $ref: `#/components/responses/${error.code}` }
        : failureResponse(error),
    ]),
  )
}
