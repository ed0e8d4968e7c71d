import { hasZodFastifySchemaValidationErrors } from '@fastify/type-provider-zod'
import type { FastifyError, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import plugin from 'fastify-plugin'
import { isDatabaseAway } from '../../database/database-away.ts'
import { SealError } from '../../sealing/seal.ts'
import {
  ApiError,
  type ErrorCode,
  errorCatalogue,
  failureBody,
  unavailable,
  invalidRequest,
} from '../errors.ts'
import { leadFields } from './request-log.ts'
import { faultsOf } from '../faults.ts'
import { pathOf } from '../paths.ts'
import { printable } from '../unknown-fields.ts'

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
