import { hasZodFastifySchemaValidationErrors } from '@fastify/type-provider-zod'
import type { FastifyError, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import plugin from 'fastify-plugin'
import { z } from 'zod'
import { isDatabaseAway } from '../../database/database-away.ts'
import { SealError } from '../../sealing/seal.ts'
import {
  ApiError,
  type ErrorCode,
  errorCatalogue,
  failureBody,
  unavailable,
  invalidPayload,
} from '../errors.ts'
import { pathOf } from '../paths.ts'
import { nearest } from '../../values/nearest.ts'
import { notFields, printable, unknownIn } from '../unknown-fields.ts'
import { fieldsOf, wrongFields } from '../wrong-fields.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The error that the request was answered with. */
    failure: AnsweredFailure | undefined
  }
}

export interface AnsweredFailure {
  code: ErrorCode
  /** Of the fields that the call knows, those that were wrong. */
  fields: readonly string[]
}

/** Sends every error in one format, whether our code, the schemas, Fastify or PostgreSQL raised it. */
export const failures = plugin(async (app) => {
  const methodsOf = new Map<string, string[]>()
  app.decorateRequest('failure', undefined)
  app.addHook('onRoute', ({ url, method }) => {
    methodsOf.set(url, (methodsOf.get(url) ?? []).concat(method))
  })
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { status, code, message, headers, details } = toApiError(error, request)
    request.failure = { code, fields: wrongFields(error, request) }
    // operators need the line, not where in the code it came from
    if (error instanceof SealError) request.log.error({ lead_id: request.leadId }, error.message)
    else if (status >= 500) request.log.error({ err: error }, 'request failed')
    return reply
      .code(status)
      .headers(headers)
      .send(failureBody(code, message, details))
  })
  app.setNotFoundHandler(() => {
    throw new ApiError('NOT_FOUND')
  })
  // before Fastify reads and checks the body
  app.addHook('onRequest', async (request) => {
    if (!request.is404) return
    await app.limitAddress(request)
    const path = pathOf(request.url)
    const methods = methodsOf.get(path)
    if (methods === undefined) throw unknownPath(path, [...methodsOf.keys()])
    throw wrongMethod(request.method, methods)
  })
})

function unknownPath(path: string, paths: string[]): ApiError {
  const near = nearestPath(path, paths)
  const hint = near === undefined ? 'The reference at /docs lists all paths.' : `Did you mean ${near}?`
  return new ApiError('NOT_FOUND', `There is no path ${printable(path)}. ${hint}`)
}

/** With or without `/v1` and slashes. */
function nearestPath(path: string, paths: string[]): string | undefined {
  const calls = paths.filter((known) => /^\/v1\/[a-z/-]+$/.test(known))
  return nearest(path, calls) ?? nearest(`/v1${path}`, calls) ?? nearest(path.replace(/^\/v1\//, ''), calls)
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
  if (hasZodFastifySchemaValidationErrors(error)) {
    const faults = describeFaults(error.validation as FastifySchemaValidationError[], request)
    return invalidPayload(`Invalid request: ${faults.concat(describeUnknown(request)).join('; ')}.`)
  }
  if (isDatabaseAway(error) || error instanceof SealError) return unavailable()
  return new ApiError(codeOfStatus(error.statusCode ?? 500))
}

function codeOfStatus(status: number): ErrorCode {
  // the files of /console send it for a path outside of them
  if (status === 403) return 'NOT_FOUND'
  const codes = Object.keys(errorCatalogue) as ErrorCode[]
  const known = codes.find((code) => errorCatalogue[code].status === status)
  return known ?? (status >= 400 && status < 500 ? 'INVALID_PAYLOAD' : 'INTERNAL_ERROR')
}

/** zod’s code for a field that a strict body does not have. */
const UNKNOWN_FIELDS = 'unrecognized_keys'
/** Keep the message short: a body of 64 KiB can have thousands of invalid fields. */
const MAX_FAULTS = 50

/** Names every invalid field and what it needs. It never repeats a value. */
function describeFaults(faults: FastifySchemaValidationError[], { body }: FastifyRequest): string[] {
  const lines = faults.slice(0, MAX_FAULTS).map(({ keyword, instancePath, message = 'is invalid' }) => {
    const field = nameOf(instancePath.slice(1), body)
    if (keyword === UNKNOWN_FIELDS) return field === '' ? message : `in ${field}, ${message}`
    return `${field === '' ? 'the request body' : field} ${message}`
  })
  if (faults.length > MAX_FAULTS) lines.push(`and ${faults.length - MAX_FAULTS} more`)
  return lines
}

/** `states/0` as its sender would write it: `states[0]`. A field’s own name may look like that, too. */
function nameOf(path: string, body: unknown): string {
  const isField = typeof body === 'object' && body !== null && Object.hasOwn(body, path)
  return printable(isField ? path : path.replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.'))
}

/** Where unknown fields are ignored, one of them may be what is missing. */
function describeUnknown({ body, routeOptions }: FastifyRequest): string[] {
  const schema = routeOptions.schema?.body
  const isLenient = schema instanceof z.ZodObject && schema.def.catchall === undefined
  if (!isLenient) return []
  const fields = fieldsOf(schema)
  const unknown = unknownIn(body, fields)
  return unknown.length === 0 ? [] : [notFields(unknown, fields)]
}
