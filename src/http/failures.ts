import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isDatabaseAway } from '../database/errors.ts'
import { Refusal } from '../fail.ts'
import {
  ApiError,
  errorCatalogue,
  type ErrorCode,
  type Fault,
  invalidRequest,
  unavailable,
} from './errors.ts'
import { pathOf } from './http-server.ts'
import { leadFields } from './request-log.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The unknown fields, on a route that ignores and names them: noted before validation drops them. */
    ignoredFields: string[] | undefined
  }
}

/** A body of 64 KiB can have thousands of unknown fields. */
export const MOST_IGNORED = 20
const MOST_FAULTS = 50
const MOST_CHARACTERS = 64

/** A name as its sender wrote it, without invisible characters. */
function printable(name: string): string {
  const characters = Array.from(name.replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?'))
  const isLong = characters.length > MOST_CHARACTERS
  return isLong ? `${characters.slice(0, MOST_CHARACTERS).join('')}…` : characters.join('')
}

/** The names of ignored fields for a response, at most `MOST_IGNORED`; `undefined` if there are none. */
export function ignoredIn(body: unknown, fields: readonly string[]): string[] | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
  const unknown = Object.keys(body).filter((name) => !fields.includes(name))
  return unknown.length === 0 ? undefined : unknown.slice(0, MOST_IGNORED).map(printable)
}

/** The problem of a name that is not among `fields`. */
export const notAmong = (fields: readonly string[]) =>
  `is not a field (${fields.length === 0 ? 'send an empty object' : `use ${fields.join(', ')}`})`

/** `['states', 0]` as its sender would write it: `states[0]`. */
const nameOf = (path: readonly PropertyKey[]) =>
  printable(
    path
      .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
      .join('')
      .replace(/^\./, ''),
  )

/** Names every invalid field once, and what it needs. It never repeats a value. */
function faultsOf(issues: readonly z.core.$ZodIssue[]): Fault[] {
  const found = new Map<string, Fault>()
  for (const { path, message: problem, ...issue } of issues) {
    const field = nameOf(path)
    if (issue.code === 'unrecognized_keys')
      for (const key of issue.keys.slice(0, MOST_FAULTS)) {
        const unknown = nameOf([...path, key]) || '""'
        found.set(unknown, { field: unknown, problem })
      }
    // a rule about a field's name comes after those of its value, and says more
    else if (issue.code === 'custom' || !found.has(field))
      found.set(field, field === '' ? { problem: `the request body ${problem}` } : { field, problem })
  }
  return [...found.values()].slice(0, MOST_FAULTS)
}

/** Where unknown fields are ignored, one may be a missing field misspelt: the message names them. */
function ignoredFaults(schema: z.ZodType, body: unknown): Fault[] {
  if (!(schema instanceof z.ZodObject) || schema.def.catchall !== undefined) return []
  const fields = Object.keys(schema.shape)
  return (ignoredIn(body, fields) ?? []).map((name) => ({ problem: `${name || '""'} ${notAmong(fields)}` }))
}

/** Sends every error in one format, whether our code, the schemas, Fastify or PostgreSQL raised it. */
export function answerFailures(app: FastifyInstance): void {
  app.setValidatorCompiler<z.ZodType>(({ schema }) => (body: unknown) => {
    const { data, error } = schema.safeParse(body)
    return error
      ? { error: invalidRequest(...faultsOf(error.issues), ...ignoredFaults(schema, body)) }
      : { value: data }
  })
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { status, headers, body } = toApiError(error, request)
    // a refusal says what to do: operators need no stack
    if (error instanceof Refusal) request.log.error(leadFields(request), error.message)
    else if (status >= 500) request.log.error({ err: error, ...leadFields(request) }, 'request failed')
    if (status === 409 || status === 422) body.error.lead_id ??= request.leadId
    return reply.code(status).headers(headers).send(body)
  })
  const methodsOf = new Map<string, string[]>()
  app.addHook('onRoute', ({ url, method }) => {
    methodsOf.set(url, (methodsOf.get(url) ?? []).concat(method))
  })
  app.setNotFoundHandler(() => {
    throw unknownPath()
  })
  // before Fastify reads and checks the body
  app.addHook('onRequest', async (request) => {
    if (!request.is404) return
    await app.limitAddress(request)
    const methods = methodsOf.get(pathOf(request.url))
    throw methods === undefined ? unknownPath() : wrongMethod(request.method, methods)
  })
}

const unknownPath = () =>
  new ApiError('NOT_FOUND', 'There is no such path. The reference at /docs lists all paths.')

function wrongMethod(method: string, allowed: string[]): ApiError {
  // HEAD and OPTIONS come with the others
  const named = allowed.filter((name) => name === 'GET' || name === 'POST')
  const message = `This path does not support ${method}. Use ${named.join(' or ')}.`
  return new ApiError('METHOD_NOT_ALLOWED', message, { allow: allowed.toSorted().join(', ') })
}

function toApiError(error: FastifyError, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error
  // the sender left before the end of the body: nobody reads the answer
  if (error === request.raw.errored) return new ApiError('INVALID_PAYLOAD')
  if (isDatabaseAway(error) || error instanceof Refusal) return unavailable()
  // the file server of /console sends 403 for a path outside its folder
  if (error.statusCode === 403) return unknownPath()
  const { statusCode: status = 500 } = error
  const codes = Object.keys(errorCatalogue) as ErrorCode[]
  const known = codes.find((code) => errorCatalogue[code].status === status)
  return new ApiError(known ?? (status >= 400 && status < 500 ? 'INVALID_PAYLOAD' : 'INTERNAL_ERROR'))
}
