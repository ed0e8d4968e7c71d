import { hasZodFastifySchemaValidationErrors } from '@fastify/type-provider-zod'
import type { FastifyError, FastifySchemaValidationError } from 'fastify'
import plugin from 'fastify-plugin'
import { isDatabaseAway } from '../../db/database-away.ts'
import {
  ApiError,
  type ErrorCode,
  errorCatalogue,
  failureBody,
  unavailable,
  invalidPayload,
} from '../errors.ts'
import { pathOf } from '../paths.ts'

/** Sends every error in one format, whoever raised it: our code, the schemas, Fastify or PostgreSQL. */
export const failures = plugin(async (app) => {
  const methodsOf = new Map<string, string[]>()
  app.addHook('onRoute', ({ url, method }) => {
    methodsOf.set(url, (methodsOf.get(url) ?? []).concat(method))
  })
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { status, code, message, headers } = toApiError(error)
    if (status >= 500) request.log.error({ err: error }, 'request failed')
    return reply.code(status).headers(headers).send(failureBody(code, message))
  })
  app.setNotFoundHandler(() => {
    throw new ApiError('NOT_FOUND')
  })
  // before Fastify reads and checks the body
  app.addHook('onRequest', async (request) => {
    if (!request.is404) return
    await app.limitAddress(request)
    const methods = methodsOf.get(pathOf(request.url))
    if (methods === undefined) throw new ApiError('NOT_FOUND')
    throw new ApiError('METHOD_NOT_ALLOWED', undefined, { allow: methods.toSorted().join(', ') })
  })
})

function toApiError(error: FastifyError): ApiError {
  if (error instanceof ApiError) return error
  if (hasZodFastifySchemaValidationErrors(error)) {
    return invalidPayload(describeFaults(error.validation as FastifySchemaValidationError[]))
  }
  if (isDatabaseAway(error)) return unavailable()
  return new ApiError(codeOfStatus(error.statusCode ?? 500))
}

function codeOfStatus(status: number): ErrorCode {
  // the files of /docs send it for a path outside of them
  if (status === 403) return 'NOT_FOUND'
  const codes = Object.keys(errorCatalogue) as ErrorCode[]
  const known = codes.find((code) => errorCatalogue[code].status === status)
  return known ?? (status >= 400 && status < 500 ? 'INVALID_PAYLOAD' : 'INTERNAL_ERROR')
}

/** Keep the message short: a body of 64 KiB can have thousands of invalid fields. */
const MAX_FAULTS = 50
const MAX_NAME = 64

/** One line that names every invalid field and what it needs. It never repeats a value. */
function describeFaults(faults: FastifySchemaValidationError[]): string {
  const lines = faults.slice(0, MAX_FAULTS).map(({ instancePath, message = 'is invalid' }) => {
    const field = instancePath.slice(1)
    return `${field === '' ? 'the request body' : printable(field)} ${message}`
  })
  if (faults.length > MAX_FAULTS) lines.push(`and ${faults.length - MAX_FAULTS} more`)
  return `Invalid request: ${lines.join('; ')}.`
}

/** The name as the sender wrote it, without invisible characters. */
function printable(name: string): string {
  const readable = name.replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?')
  return readable.length > MAX_NAME ? `${readable.slice(0, MAX_NAME)}…` : readable
}
