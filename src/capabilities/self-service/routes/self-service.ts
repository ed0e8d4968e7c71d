import type { FastifyRequest } from 'fastify'
import { type SelfServiceActor, SelfServiceRefusal } from '../statements/self-service.ts'
import type { Environment } from '../../../core/values/environment.ts'
import { ApiError } from '../../../core/http/errors.ts'

export const selfServiceOff = () => new ApiError('SELF_SERVICE_OFF')

export const actorOf = (
  { partnerId, keyId }: FastifyRequest,
  environment: Environment,
): SelfServiceActor => ({ partnerId, keyId, environment })

/** Does `work`, with what the record refuses as an error of the API. */
export async function orRefusal<Result>(work: Promise<Result>): Promise<Result> {
  return work.catch((error: unknown) => {
    if (!(error instanceof SelfServiceRefusal)) throw error
    throw new ApiError(codes[error.reason])
  })
}

const codes = {
  off: 'SELF_SERVICE_OFF',
  no_endpoint: 'NO_ENDPOINT',
  no_candidate: 'NO_CANDIDATE',
  paused_by_staff: 'PAUSED_BY_STAFF',
} as const
