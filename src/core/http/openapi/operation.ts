import type { z } from 'zod'
import type { ApiError } from '../errors.ts'
import { failuresOf, type ResponseHeader } from './failures.ts'
import type { ClientCall } from './samples.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Only `operation` sets it: a route without its OpenAPI texts does not compile. Empty for a route that is hidden. */
    'x-operation': Details | Record<string, never>
  }
}

/** What OpenAPI says about a route where Fastify's schema has no place for it. */
export interface Details {
  /** Header parameters. */
  parameters?: Parameter[]
  client: ClientCall
  requestExamples: Examples
  responseDescription: string
  /** Beside those of every response. */
  responseHeaders: readonly ResponseHeader[]
  responseExamples: Examples
  links: Links
  /** Error responses by status. */
  failures: Record<string, object>
}

interface Parameter {
  name: string
  example: string
}

/** Values by the name that the reference shows. */
type Examples = Record<string, object>

/**
 * Where in the response ids are, as JSON Pointers, by the name of the field that takes them. OpenAPI has a link to each
 * operation with such a field; `after` leads to the next page of the same one.
 */
export type Links = Record<string, string>

interface Operation<Body, Response> {
  operationId: string
  tags: ['Leads' | 'Endpoint' | 'Deliveries' | 'Sandbox' | 'Service']
  summary: string
  description: string
  /** Set where a request needs no key. */
  security?: Record<string, string[]>[]
  parameters?: Parameter[]
  /** For the samples: they send the first of `bodyExamples`. */
  client: ClientCall
  body?: Body
  bodyExamples?: Examples
  response: Response
  responseDescription: string
  responseHeaders?: readonly ResponseHeader[]
  responseExamples: Examples
  links?: Links
  /** The errors of this route, with their messages, beside those that every request can get. */
  errors?: ApiError[]
}

/** The schema of a route with all that OpenAPI says about it. Its body and its response are named after it. */
export function operation<Response extends z.ZodType, Body extends z.ZodType | undefined = undefined>({
  parameters,
  client,
  body,
  bodyExamples = {},
  response,
  responseDescription,
  responseHeaders = [],
  responseExamples,
  links = {},
  errors = [],
  ...texts
}: Operation<Body, Response>) {
  const name = texts.operationId.replace(/^./, (first) => first.toUpperCase())
  const details: Details = {
    ...(parameters && { parameters }),
    client,
    requestExamples: toExamples(bodyExamples),
    responseDescription,
    responseHeaders,
    responseExamples: toExamples(responseExamples),
    links,
    failures: failuresOf(errors, body !== undefined),
  }
  return {
    ...texts,
    ...((body && { body: body.meta({ id: `${name}Request` }) }) as { body: Body }),
    response: { 200: response.meta({ id: `${name}Response` }) },
    'x-operation': details,
  }
}

function toExamples(examples: Examples): Examples {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]))
}
