import { hasZodFastifySchemaValidationErrors } from '@fastify/type-provider-zod'
import type { FastifyError, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import plugin from 'fastify-plugin'
import { z } from 'zod'
import { isDatabaseAway } from '../database/errors.ts'
import { SealError } from '../seal.ts'
import {
  ApiError,
  errorCatalogue,
  type ErrorCode,
  failureBody,
  type Fault,
  invalidRequest,
  lineOf,
  unavailable,
} from './errors.ts'
import { pathOf } from './http-server.ts'
import { leadFields } from './request-log.ts'
import { notAmong, printable, unknownFaults, unknownIn } from './unknown-fields.ts'

/** zod’s code for a field that a strict body does not have. */
const UNKNOWN_FIELDS = 'unrecognized_keys'
/** Keep the response short: a body of 64 KiB can have thousands of invalid fields. */
const MAX_FAULTS = 50

/** Names every invalid field once, and what it needs. It never repeats a whole value. */
function faultsOf(issues: FastifySchemaValidationError[], request: FastifyRequest): Fault[] {
  const found = oneForEach(issues)
  const faults = found.slice(0, MAX_FAULTS).flatMap((fault) => describe(fault, request.body))
  if (found.length > MAX_FAULTS) faults.push({ problem: `and ${found.length - MAX_FAULTS} more` })
  return faults.concat(unknownFields(request))
}

/**
 * The first of each field; one of a field's name comes after those of its value, and says more. What an object has beside its
 * fields is no fault of the object's.
 */
function oneForEach(issues: FastifySchemaValidationError[]): FastifySchemaValidationError[] {
  const kept = new Map<string, FastifySchemaValidationError>()
  for (const issue of issues) {
    const { keyword, instancePath } = issue
    const about = keyword === UNKNOWN_FIELDS ? `${instancePath}/` : instancePath
    if (keyword === 'custom' || !kept.has(about)) kept.set(about, issue)
  }
  return [...kept.values()]
}

function describe(
  { keyword, instancePath, message = 'is invalid', params }: FastifySchemaValidationError,
  body: unknown,
): Fault[] {
  const at = nameOf(instancePath.slice(1), body)
  if (keyword === UNKNOWN_FIELDS) return unknownAt(at, unknownFaults(params['keys'] as string[], message))
  const own = at === '' ? { problem: `the request body ${message}` } : { field: at, problem: message }
  const { faults } = (params['params'] ?? {}) as { faults?: Fault[] }
  if (faults === undefined || faults.length === 0) return [own]
  // the message says it once, for all of them
  return faults.map((fault, index) => ({ ...below(at, fault), line: index === 0 ? lineOf(own) : '' }))
}

/** What is wrong with a field of the object at a path. */
const below = (at: string, { field, problem }: Fault): Fault =>
  field === undefined ? { problem } : { field: at === '' ? field : `${at}.${field}`, problem }

/** The object is named once, before its first field. */
const unknownAt = (at: string, faults: readonly Fault[]): Fault[] =>
  faults.map((fault, index) => ({
    ...below(at, fault),
    line: at === '' || index > 0 ? lineOf(fault) : `in ${at}, ${lineOf(fault)}`,
  }))

/** `states/0` as its sender would write it: `states[0]`. A field’s own name may look like that, too. */
function nameOf(path: string, body: unknown): string {
  const isField = typeof body === 'object' && body !== null && Object.hasOwn(body, path)
  return printable(isField ? path : path.replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.'))
}

/** Where unknown fields are ignored, one of them may be what is missing. */
function unknownFields({ body, routeOptions }: FastifyRequest): Fault[] {
  const schema = routeOptions.schema?.body
  const isLenient = schema instanceof z.ZodObject && schema.def.catchall === undefined
  if (!isLenient) return []
  const fields = Object.keys(schema.shape)
  // the message names them; they are ignored, so they are not what is wrong
  return unknownFaults(unknownIn(body, fields), notAmong(fields)).map((fault) => ({ problem: lineOf(fault) }))
}

/** Sends every error in one format, whether our code, the schemas, Fastify or PostgreSQL raised it. */
export const failures = plugin(async (app) => {
  const methodsOf = new Map<string, string[]>()
  app.addHook('onRoute', ({ url, method }) => {
    methodsOf.set(url, (methodsOf.get(url) ?? []).concat(method))
  })
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { status, code, message, headers, details } = toApiError(error, request)
    // operators need the line, not where in the code it came from
    if (error instanceof SealError) request.log.error(leadFields(request), error.message)
    else if (status >= 500) request.log.error({ err: error, ...leadFields(request) }, 'request failed')
    const isConflict = status === 409 || status === 422
    const about = isConflict ? { lead_id: request.leadId, ...details } : details
    return reply
      .code(status)
      .headers(headers)
      .send(failureBody(code, message, about))
  })
  app.setNotFoundHandler((request) => {
    throw unknownPath(pathOf(request.url))
  })
  // before Fastify reads and checks the body
  app.addHook('onRequest', async (request) => {
    if (!request.is404) return
    await app.limitAddress(request)
    const path = pathOf(request.url)
    const methods = methodsOf.get(path)
    if (methods === undefined) throw unknownPath(path)
    throw wrongMethod(request.method, methods)
  })
})

function unknownPath(path: string): ApiError {
  return new ApiError(
    'NOT_FOUND',
    `There is no path ${printable(path)}. The reference at /docs lists all paths.`,
  )
}

function wrongMethod(method: string, allowed: string[]): ApiError {
  // HEAD and OPTIONS come with the others
  const named = allowed.filter((name) => name === 'GET' || name === 'POST')
  return new ApiError(
    'METHOD_NOT_ALLOWED',
    `This path does not support ${method}. Use ${named.join(' or ')}.`,
    {
      allow: allowed.toSorted().join(', '),
    },
  )
}

function toApiError(error: FastifyError, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error
  // its sender left before the end of the body: nobody reads the answer
  if (error === request.raw.errored) return new ApiError('INVALID_PAYLOAD')
  if (hasZodFastifySchemaValidationErrors(error)) {
    return invalidRequest(...faultsOf(error.validation as FastifySchemaValidationError[], request))
  }
  if (isDatabaseAway(error) || error instanceof SealError) return unavailable()
  // the files of /console send it for a path outside of them
  if (error.statusCode === 403) return unknownPath(pathOf(request.url))
  return new ApiError(codeOfStatus(error.statusCode ?? 500))
}

function codeOfStatus(status: number): ErrorCode {
  const codes = Object.keys(errorCatalogue) as ErrorCode[]
  const known = codes.find((code) => errorCatalogue[code].status === status)
  return known ?? (status >= 400 && status < 500 ? 'INVALID_PAYLOAD' : 'INTERNAL_ERROR')
}
