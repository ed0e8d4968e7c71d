import type { FastifyError, FastifyReply } from 'fastify'
import plugin from 'fastify-plugin'
import { hasZodFastifySchemaValidationErrors } from '@fastify/type-provider-zod'
import { ApiError, type ErrorCode, errorCatalogue, failureBody } from '../../errors.ts'
import { isDatabaseAway } from '../../db/database-away.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Every failure in one shape, whoever raised it: our code, the schemas, Fastify or PostgreSQL. */
export const failures = plugin(async (app) => {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const failure = toApiError(error)
    if (failure.status >= 500) request.log.error({ err: error }, 'request failed')
    return send(reply, failure)
  })
  app.setNotFoundHandler((request, reply) => {
    const { pathname: url } = new URL(request.url, 'http://localhost')
    const allowed = METHODS.filter((method) => app.hasRoute({ method, url }))
    if (allowed.length === 0) return send(reply, new ApiError('NOT_FOUND'))
    return send(reply, new ApiError('METHOD_NOT_ALLOWED', undefined, { allow: allowed.join(', ') }))
  })
})

function send(reply: FastifyReply, { status, code, message, headers }: ApiError) {
  return reply.code(status).headers(headers).send(failureBody(code, message))
}

function toApiError(error: FastifyError): ApiError {
  if (error instanceof ApiError) return error
  if (hasZodFastifySchemaValidationErrors(error))
    return new ApiError('INVALID_PAYLOAD', describe(error.validation))
  if (isDatabaseAway(error)) return new ApiError('SERVICE_UNAVAILABLE', undefined, { 'retry-after': '5' })
  const code = codeOfStatus(error.statusCode ?? 500)
  if (code === 'INVALID_PAYLOAD') return new ApiError(code, 'The request body is not a valid JSON object.')
  return new ApiError(code)
}

/** Names every faulty field, each with what it needs. */
function describe(issues: { instancePath: string; message?: string }[]): string {
  const faults = issues.map(({ instancePath, message = 'is invalid' }) => {
    const field = instancePath.slice(1).replaceAll('/', '.')
    return `${field === '' ? 'the request body' : field} ${message}`
  })
  return `Invalid request: ${faults.join('; ')}.`
}

function codeOfStatus(status: number): ErrorCode {
  const codes = Object.keys(errorCatalogue) as ErrorCode[]
  const known = codes.find((code) => errorCatalogue[code].status === status)
  return known ?? (status >= 400 && status < 500 ? 'INVALID_PAYLOAD' : 'INTERNAL_ERROR')
}
