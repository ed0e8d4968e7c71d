import { type ErrorCode, errorCatalogue, failureBody, unknownLead } from '../../errors.ts'
import type { Operation } from './operations.ts'

/** Errors that any request can get; the second list those with a body. */
const everywhere: ErrorCode[] = [
  'AUTH_FAILED',
  'HTTPS_REQUIRED',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
]
const withBody: ErrorCode[] = ['INVALID_PAYLOAD', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']

/** Messages that say more than the catalogue's default. */
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

/** The failure that all errors share, as a schema of the document. */
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
        message: { type: 'string', description: 'For people; it may change.' },
      },
    },
  },
}

/** Every error answer, named by its code. */
export function failureResponses() {
  const codes = Object.keys(errorCatalogue) as ErrorCode[]
  return Object.fromEntries(codes.map((code) => [code, failureResponse(code)]))
}

function failureResponse(code: ErrorCode, message = messages[code]) {
  const example = failureBody(code, message)
  const waits = code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE'
  return {
    description: `\`${code}\`: ${example.error.message}`,
    ...(waits && { headers: retryAfter }),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' }, example } },
  }
}

/** The error answers of an operation, by status. */
export function failuresOf({ errors, request, invalid, limited }: Operation) {
  const codes = [...everywhere, ...(request ? withBody : []), ...errors]
  const shared = codes.map((code) => [
    errorCatalogue[code].status,
    { $ref: `#/components/responses/${code}` },
  ])
  return {
    ...(Object.fromEntries(shared) as Record<string, object>),
    ...(invalid !== undefined && { 400: failureResponse('INVALID_PAYLOAD', invalid) }),
    ...(limited && {
      429: { ...failureResponse('RATE_LIMITED', limited.message), description: limited.when },
    }),
  }
}
