import type { FastifyRequest } from 'fastify'
import { type SelfServiceActor, SelfServiceRefusal } from '../db/endpoints/self-service.ts'
import type { Sql } from '../db/orm.ts'
import {
  ACTION_EVERY_MINUTES,
  ACTIONS_IN_A_ROW,
  MOST_CERTIFICATIONS_A_DAY,
  MOST_CHANGES_A_DAY,
} from '../domain/endpoint-change.ts'
import type { Environment } from '../domain/environment.ts'
import type { EndpointRequests } from '../temporal/endpoint-requests.ts'
import type { EndpointPolicy } from '../webhooks/endpoint-url.ts'
import { ApiError } from './errors.ts'

/** What the routes need by which partners look after their own endpoint. */
export interface SelfServiceOptions {
  sql: Sql
  policy: EndpointPolicy
  encryptionKeys: readonly Buffer[]
  /** Starts what the record asks for, without waiting; what cannot be started now, the sweep starts. */
  startRequest: StartRequest
}

export type StartRequest = (start: (requests: EndpointRequests) => Promise<void>) => void

export const selfServiceOff = () => new ApiError('SELF_SERVICE_OFF')

export const tooManyChanges = (retryAfterSeconds = 3600) =>
  tooMany(`At most ${MOST_CHANGES_A_DAY} changes of URL and secret`, retryAfterSeconds)

export const tooManyCertifications = (retryAfterSeconds = 3600) =>
  tooMany(`At most ${MOST_CERTIFICATIONS_A_DAY} certifications`, retryAfterSeconds)

export const tooManyActions = (retryAfterSeconds = ACTION_EVERY_MINUTES * 60) =>
  limited(
    `Your endpoint can be paused, resumed and tested ${ACTIONS_IN_A_ROW} times in a row, and then once every ${ACTION_EVERY_MINUTES} minutes. What changes nothing does not count.`,
    retryAfterSeconds,
  )

/** @param what as `At most 20 changes`. */
export const tooMany = (what: string, retryAfterSeconds: number) =>
  limited(`${what} are possible within 24 hours.`, retryAfterSeconds)

function limited(limit: string, retryAfterSeconds: number): ApiError {
  return new ApiError('RATE_LIMITED', `${limit} Try again after the number of seconds in Retry-After.`, {
    'retry-after': String(retryAfterSeconds),
  })
}

export const actorOf = (
  { partnerId, keyId }: FastifyRequest,
  environment: Environment,
): SelfServiceActor => ({ partnerId, keyId, environment })

/** Does `work`, with what the record refuses as an error of the API. */
export async function orRefusal<Result>(
  work: Promise<Result>,
  whenTooMany: (seconds?: number) => ApiError = tooManyChanges,
): Promise<Result> {
  return work.catch((error: unknown) => {
    if (!(error instanceof SelfServiceRefusal)) throw error
    if (error.reason === 'too_many') throw whenTooMany(error.retryAfterSeconds)
    throw new ApiError(codes[error.reason], messages[error.reason])
  })
}

const codes = {
  off: 'SELF_SERVICE_OFF',
  no_endpoint: 'NO_ENDPOINT',
  no_candidate: 'NO_CANDIDATE',
  announced: 'NO_CANDIDATE',
  paused_by_staff: 'PAUSED_BY_STAFF',
} as const

const messages: Partial<Record<SelfServiceRefusal['reason'], string>> = {
  announced: 'Your new URL is certified already. get-endpoint shows when it takes effect.',
}
