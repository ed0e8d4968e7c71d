import { z } from 'zod'
import { ApiError, errorCatalogue, type ErrorCode } from './errors.ts'
import { openEnum, refTo } from './schemas.ts'

/** Errors that any request can get, and those of a request with a body. */
const everywhere = [
  'AUTH_FAILED',
  'HTTPS_REQUIRED',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const
const withBody = ['INVALID_PAYLOAD', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const

const codes = Object.keys(errorCatalogue) as ErrorCode[]
const code = openEnum(
  'ErrorCode',
  codes,
  `Which error it is. New ones may be added: decide by the HTTP status then.\n\n${codes
    .map((each) => `- \`${each}\` (${errorCatalogue[each].status})`)
    .join('\n')}`,
)

const fieldProblem = z
  .object({
    field: z
      .string()
      .describe('Its path as you sent it, such as `event_payload.experian_gain`, or the name of a header.'),
    problem: z
      .string()
      .describe(
        'For people: what the field must be. It repeats nothing that you sent except a character that is not allowed.',
      ),
  })
  .meta({ id: 'FieldProblem', description: 'A field of the request that is wrong.' })

z.object({
  success: z.literal(false),
  error: z.object({
    code,
    message: z.string().describe('For people. Do not parse it: it may change.'),
    fields: z
      .array(fieldProblem)
      .optional()
      .describe(
        'With `INVALID_PAYLOAD` only: the wrong fields. Empty if, for example, the body is not JSON.',
      ),
    next: z
      .string()
      .optional()
      .describe('From list-events only, if it cannot continue from `after`: the cursor to send instead.'),
    lead_id: z.int().optional().describe('The lead that a 409 or a 422 is about.'),
  }),
}).meta({ id: 'Failure', description: 'The body of every error response.' })

/** Headers of responses by name, shared by all operations. */
export const commonHeaders = {
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
  'Idempotent-Replayed': {
    description: '`true` if this is the response to an earlier request with the same key; otherwise absent.',
    required: false,
    schema: { type: 'string', const: 'true' },
  },
}

/** Values by the name that the reference shows. */
type Examples = Record<string, object>

/** A response in JSON. Each has an `X-Request-Id`, and may have `others`. */
const responseOf = (
  description: string,
  schemaId: string,
  examples: Examples,
  others: readonly (keyof typeof commonHeaders)[] = [],
) => ({
  description,
  headers: Object.fromEntries(
    ['X-Request-Id', ...others].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  ),
  content: jsonOf(schemaId, examples),
})

const jsonOf = (schemaId: string, examples: Examples) => ({
  'application/json': {
    schema: { $ref: refTo(schemaId) },
    examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])),
  },
})

/** One response for all errors of a status. */
function failureOf(errors: readonly ApiError[]): object {
  const description = errors.map((error) => `\`${error.code}\`: ${error.message}`).join('\n\n')
  const examples = errors.map((error) => [error.code, error.body])
  const mustWait = errors.some(({ status }) => status === 429 || status === 503)
  const headers = mustWait ? (['Retry-After'] as const) : []
  return responseOf(description, 'Failure', Object.fromEntries(examples) as Examples, headers)
}

/** Error responses by code, shared by all operations. */
export const failureResponses = Object.fromEntries(
  codes.map((each) => [each, failureOf([new ApiError(each)])]),
)

/** The error responses of an operation by status: those of `errors`, and the shared ones of all other statuses. */
function failuresOf(errors: readonly ApiError[], hasBody: boolean): Record<string, object> {
  const shared = [...everywhere, ...(hasBody ? withBody : [])].map((each) => new ApiError(each))
  const byStatus = (all: readonly ApiError[]) => Map.groupBy(all, ({ status }) => status)
  const found = new Map([...byStatus(shared), ...byStatus(errors)])
  return Object.fromEntries(Array.from(found, ([status, all]) => [status, sharedOr(all)]))
}

/** A reference to the shared response, if that says it all. */
function sharedOr(errors: readonly ApiError[]): object {
  const [{ code: only, message } = new ApiError('NOT_FOUND'), ...more] = errors
  const isShared = more.length === 0 && message === errorCatalogue[only].message
  return isShared ? { $ref: `#/components/responses/${only}` } : failureOf(errors)
}

declare module 'fastify' {
  interface FastifySchema {
    /** The route's operation in the OpenAPI document, which has none without it. */
    openapi?: object
  }
}

interface Operation<Body, Response> {
  operationId: string
  tags: ['Leads' | 'Endpoint' | 'Deliveries' | 'Sandbox' | 'Service']
  summary: string
  description: string
  /** Set where a request needs no key. */
  security?: Record<string, string[]>[]
  /** Headers. */
  parameters?: object[]
  body?: Body
  bodyExamples?: Examples
  response: Response
  responseDescription: string
  /** In addition to those of every response. */
  responseHeaders?: readonly (keyof typeof commonHeaders)[]
  responseExamples: Examples
  /** The errors of this route, with their messages, in addition to those that every request can get. */
  errors?: readonly ApiError[]
}

/** The schema of a route with all that OpenAPI says about it. Its body and its response are named after it. */
export function operation<Response extends z.ZodType, Body extends z.ZodType | undefined = undefined>({
  body,
  bodyExamples = {},
  response,
  responseDescription,
  responseHeaders,
  responseExamples,
  errors = [],
  ...texts
}: Operation<Body, Response>) {
  const name = texts.operationId.replace(/^./, (first) => first.toUpperCase())
  const [request, answer] = [`${name}Request`, `${name}Response`]
  const openapi = {
    ...texts,
    ...(body && { requestBody: { required: true, content: jsonOf(request, bodyExamples) } }),
    responses: {
      200: responseOf(responseDescription, answer, responseExamples, responseHeaders),
      ...failuresOf(errors, body !== undefined),
    },
  }
  return {
    ...((body && { body: body.meta({ id: request }) }) as { body: Body }),
    response: { 200: response.meta({ id: answer }) },
    openapi,
  }
}
