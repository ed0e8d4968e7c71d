import type { z } from 'zod'
import type { ApiError } from '../errors.ts'
import { failuresOf, headersOf, jsonOf, type ResponseHeader } from './failures.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** A route without it is not in the OpenAPI document. */
    openapi?: Described
  }
}

/** What OpenAPI says about a route: texts as @fastify/swagger takes them, and what it has no place for. */
interface Described {
  operationId: string
  'x-parts': { parameters?: object[]; requestBody?: object; responses: object }
}

/** Values by the name that the reference shows. */
type Examples = Record<string, object>

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
  /** Beside those of every response. */
  responseHeaders?: readonly ResponseHeader[]
  responseExamples: Examples
  /** The errors of this route, with their messages, beside those that every request can get. */
  errors?: readonly ApiError[]
}

/** The schema of a route with all that OpenAPI says about it. Its body and its response are named after it. */
export function operation<Response extends z.ZodType, Body extends z.ZodType | undefined = undefined>({
  parameters,
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
  const openapi: Described = {
    ...texts,
    'x-parts': {
      ...(parameters && { parameters }),
      ...(body && { requestBody: { required: true, content: jsonOf(request, bodyExamples) } }),
      responses: {
        200: {
          description: responseDescription,
          headers: headersOf(responseHeaders),
          content: jsonOf(answer, responseExamples),
        },
        ...failuresOf(errors, body !== undefined),
      },
    },
  }
  return {
    ...((body && { body: body.meta({ id: request }) }) as { body: Body }),
    response: { 200: response.meta({ id: answer }) },
    openapi,
  }
}
