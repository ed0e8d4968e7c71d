import { ApiError, type ErrorCode, errorCatalogue, failureBody, unknownLead } from '../errors.ts'
import { refTo } from './json-schema.ts'

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
  NOT_FOUND: unknownLead().message,
}

/** Headers of responses by name, shared by all operations. */
export const responseHeaders = {
  'X-Request-Id': {
    description: 'Identifies the request. Quote it when you contact support.',
    required: true,
    schema: { type: 'string' },
    example: '0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
  },
  'Retry-After': {
    description: 'Seconds to wait before the next request.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 30,
  },
  'WWW-Authenticate': {
    description: 'The scheme to authenticate by.',
    required: true,
    schema: { type: 'string', const: 'Service-Key' },
  },
  'Idempotent-Replayed': {
    description:
      '`true` if this is the response to an earlier request with the same `Idempotency-Key`; else absent.',
    required: false,
    schema: { type: 'string', const: 'true' },
  },
}

export type ResponseHeader = keyof typeof responseHeaders

const onAll = ['X-Request-Id'] as const

/** Those of every response, and `others`. */
export const headersOf = (others: readonly ResponseHeader[] = []) =>
  Object.fromEntries(
    ([...onAll, ...others] as const).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )

const ownHeaders: Partial<Record<ErrorCode, ResponseHeader>> = {
  AUTH_FAILED: 'WWW-Authenticate',
  RATE_LIMITED: 'Retry-After',
  SERVICE_UNAVAILABLE: 'Retry-After',
}

/** The body of every error response, with one of these codes. */
export const failureSchemas = (codes: readonly ErrorCode[]) => ({
  ErrorCode: {
    // open: a generated client that knows today's codes only would refuse the whole response
    anyOf: [{ type: 'string', enum: codes }, { type: 'string' }],
    description: `Which error it is. New ones may be added: go by the HTTP status then.\n\n${codes
      .map((code) => `- \`${code}\` (${errorCatalogue[code].status})`)
      .join('\n')}`,
  },
  FieldProblem: fieldProblem,
  Failure: {
    type: 'object',
    description: 'The body of every error response.',
    required: ['success', 'error'],
    properties: {
      success: { type: 'boolean', const: false },
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { $ref: refTo('ErrorCode') },
          message: { type: 'string', description: 'For people. Do not parse it: it may change.' },
          fields: {
            type: 'array',
            items: { $ref: refTo('FieldProblem') },
            description:
              'Of each `INVALID_PAYLOAD`, and of no other error: the fields that are wrong. Empty if no field is, for example if the body is no JSON.',
          },
          next: {
            type: 'string',
            description:
              'Only of list-events, when it cannot go on from `after`: the cursor to send as `after` instead.',
          },
          lead_id: {
            type: 'integer',
            description:
              'Of a 409 or a 422 about a lead: that lead. Of an `IDEMPOTENCY_CONFLICT`, the lead that was created with the key.',
          },
        },
      },
    },
  },
})

const fieldProblem = {
  type: 'object',
  description: 'A field of the request that is wrong.',
  required: ['field', 'problem'],
  properties: {
    field: {
      type: 'string',
      description:
        'The path of the field as you sent it, such as `email` or `event_payload.experian_gain`, or the name of a header.',
    },
    problem: {
      type: 'string',
      description:
        'For people: what the field must be. It repeats nothing that you sent but a character that is not allowed.',
    },
  },
}

const shared = (code: ErrorCode) => new ApiError(code, messages[code])

/** Error responses by code, shared by all operations. */
export const failureResponses = (codes: readonly ErrorCode[]) =>
  Object.fromEntries(codes.map((code) => [code, responseOf([shared(code)])]))

/** The error responses of an operation by status: the shared ones, and `errors` in their place or beside them. */
export function failuresOf(errors: readonly ApiError[], hasBody: boolean): Record<string, object> {
  const all = [...everywhere, ...(hasBody ? withBody : [])].map(shared).concat(errors)
  const byStatus = Map.groupBy(all, ({ status }) => status)
  return Object.fromEntries(
    Array.from(byStatus, ([status, sameStatus]) => {
      // a later one of the same code says more
      const byCode = new Map(sameStatus.map((error) => [error.code, error]))
      return [status, referenceTo([...byCode.values()]) ?? responseOf([...byCode.values()])]
    }),
  )
}

/** A reference to the shared response, if it says all that there is to say. */
function referenceTo([error, ...others]: ApiError[]): object | undefined {
  if (error === undefined || others.length > 0 || error.message !== shared(error.code).message)
    return undefined
  return { $ref: `#/components/responses/${error.code}` }
}

/** One response for all errors of a status. */
function responseOf(errors: readonly ApiError[]) {
  const examples = errors.map(
    ({ code, message, details }) => [code, { value: failureBody(code, message, details) }] as const,
  )
  return {
    description: errors.map(({ code, message }) => `\`${code}\`: ${message}`).join('\n\n'),
    headers: headersOf(errors.flatMap(({ code }) => ownHeaders[code] ?? [])),
    content: {
      'application/json': {
        schema: { $ref: refTo('Failure') },
        ...(examples.length === 1
          ? { example: examples[0]?.[1].value }
          : { examples: Object.fromEntries(examples) }),
      },
    },
  }
}
