import type { z } from 'zod'
import { ApiError, type ErrorCode, failureBody, unknownLead } from '../errors.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Error responses by status. Only `operation` sets it: a route without its OpenAPI texts does not compile. */
    'x-failures': Record<string, object>
  }
}

/** Values by the name that the reference shows. */
type Examples = Record<string, object>

interface Operation<Body, Response> {
  operationId: string
  tags: ['Leads' | 'Endpoint' | 'Extensions' | 'Sandbox' | 'Service']
  summary: string
  description: string
  /** Set where a request needs no key. */
  security?: Record<string, string[]>[]
  /** Header parameters. */
  'x-parameters'?: object[]
  body?: Body
  bodyExamples?: Examples
  response: Response
  responseDescription: string
  responseExamples: Examples
  /** The errors of this route, with their messages, beside those that every request can get. */
  errors?: ApiError[]
}

/** The schema of a route with all that OpenAPI says about it. Swagger reads the keys that begin with `x-`. */
export function operation<Response extends z.ZodType, Body extends z.ZodType | undefined = undefined>({
  body,
  bodyExamples = {},
  response,
  responseDescription,
  responseExamples,
  errors = [],
  ...texts
}: Operation<Body, Response>) {
  return {
    ...texts,
    ...((body && { body: body.meta({ 'x-examples': toExamples(bodyExamples) }) }) as { body: Body }),
    response: {
      200: response.meta({
        'x-response-description': responseDescription,
        'x-examples': toExamples(responseExamples),
      }),
    },
    'x-failures': failuresOf(errors, body !== undefined),
  }
}

function toExamples(examples: Examples) {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]))
}

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

const retryAfter = {
  'Retry-After': {
    description: 'Seconds to wait before the next request.',
    schema: { type: 'integer', minimum: 1 },
  },
}

/** The body of every error response, with one of these codes. */
export const failureSchema = (codes: ErrorCode[]) => ({
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { type: 'boolean', const: false },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', enum: codes },
        message: { type: 'string', description: 'For people. Do not parse it: it may change.' },
      },
    },
  },
})

const shared = (code: ErrorCode) => new ApiError(code, messages[code])

/** Error responses by code, shared by all operations. */
export const failureResponses = (codes: ErrorCode[]) =>
  Object.fromEntries(codes.map((code) => [code, failureResponse(shared(code))]))

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
function failuresOf(errors: ApiError[], hasBody: boolean): Record<string, object> {
  const all = [...everywhere, ...(hasBody ? withBody : [])].map(shared).concat(errors)
  const byStatus = Map.groupBy(all, ({ status }) => status)
  return Object.fromEntries(
    Array.from(byStatus, ([status, sameStatus]) => {
      // a later one of the same code says more
      const errorsByCode = new Map(sameStatus.map((error) => [error.code, error]))
      return [status, responseOf([...errorsByCode.values()])]
    }),
  )
}

function responseOf([error, ...others]: ApiError[]): object {
  if (error === undefined) return {}
  if (others.length > 0) return sharedResponse([error, ...others])
  return error.message === shared(error.code).message
    ? { $ref: `#/components/responses/${error.code}` }
    : failureResponse(error)
}

/** One response for several errors of the same status. */
function sharedResponse(several: ApiError[]) {
  return {
    description: several.map(({ code, message }) => `\`${code}\`: ${message}`).join('\n\n'),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Failure' },
        examples: Object.fromEntries(
          several.map(({ code, message }) => [code, { value: failureBody(code, message) }]),
        ),
      },
    },
  }
}
