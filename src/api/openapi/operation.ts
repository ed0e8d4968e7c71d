import type { z } from 'zod'
import type { ApiError } from '../../errors.ts'
import { failuresOf } from './failures.ts'

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
  tags: ['Leads' | 'Extensions' | 'Service']
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
