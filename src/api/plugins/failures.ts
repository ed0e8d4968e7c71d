import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { hasZodFastifySchemaValidationErrors } from '@fastify/type-provider-zod'
import { isDatabaseAway } from '../../db/database-away.ts'
import { ApiError, type ErrorCode, errorCatalogue, failureBody } from '../../errors.ts'
import { describeFaults, type Fault } from '../faults.ts'
import { pathOf } from '../paths.ts'

/** How long a partner should wait for a database that is away, in seconds. */
const RETRY_AFTER_SECONDS = '5'

/** Every failure in one shape, whoever raised it: our code, the schemas, Fastify or PostgreSQL. */
export const failures = plugin(async (app) => {
  const methodsOf = new Map<string, string[]>()
  app.addHook('onRoute', ({ url, method }) => {
    methodsOf.set(url, (methodsOf.get(url) ?? []).concat(method))
  })
  app.setErrorHandler((error: FastifyError, request, reply) => answer(reply, error, request))
  app.setNotFoundHandler(() => {
    throw new ApiError('NOT_FOUND')
  })
  // before the body, which Fastify would otherwise read and judge first
  app.addHook('onRequest', async (request) => {
    if (!request.is404) return
    await app.limitAddress(request)
    const methods = methodsOf.get(pathOf(request.url))
    if (methods === undefined) throw new ApiError('NOT_FOUND')
    throw new ApiError('METHOD_NOT_ALLOWED', undefined, { allow: methods.toSorted().join(', ') })
  })
})

function answer(reply: FastifyReply, error: FastifyError, request: FastifyRequest) {
  const { status, code, message, headers } = toApiError(error)
  if (status >= 500) request.log.error({ err: error }, 'request failed')
  return reply.code(status).headers(headers).send(failureBody(code, message))
}

function toApiError(error: FastifyError): ApiError {
  if (error instanceof ApiError) return error
  if (hasZodFastifySchemaValidationErrors(error)) {
    return new ApiError('INVALID_PAYLOAD', describeFaults(error.validation as Fault[]))
  }
  if (isDatabaseAway(error)) {
    return new ApiError('SERVICE_UNAVAILABLE', undefined, { 'retry-after': RETRY_AFTER_SECONDS })
  }
  return new ApiError(codeOfStatus(error.statusCode ?? 500))
}

function codeOfStatus(status: number): ErrorCode {
  // of the files of the reference, for a path that names none
  if (status === 403) return 'NOT_FOUND'
  const codes = Object.keys(errorCatalogue) as ErrorCode[]
  const known = codes.find((code) => errorCatalogue[code].status === status)
  return known ?? (status >= 400 && status < 500 ? 'INVALID_PAYLOAD' : 'INTERNAL_ERROR')
}
