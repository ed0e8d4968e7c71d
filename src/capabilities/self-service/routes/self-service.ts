import type { FastifyReply, FastifyRequest } from 'fastify'
import { type SelfServiceActor, SelfServiceRefusal, type UsedLimit } from '../statements/self-service.ts'
import {
  type EndpointLimit,
  endpointLimits,
  MOST_CHANGES_A_DAY,
} from '../../../core/endpoints/decisions/endpoint-change.ts'
import type { Environment } from '../../../core/values/environment.ts'
import { ApiError, retryLater } from '../../../core/http/errors.ts'
import { showLimit } from '../../../core/http/rate-limit-headers.ts'

export const selfServiceOff = () => new ApiError('SELF_SERVICE_OFF')

const often = ({ inARow, everyMinutes }: { inARow: number; everyMinutes: number }) =>
  `${inARow} times in a row, and then once every ${everyMinutes} minutes.`

const whatIsLimited: Record<EndpointLimit, string> = {
  actions: `Your endpoint can be set, paused, resumed, tested and given a new secret ${often(endpointLimits.actions)} What changes nothing does not count.`,
  certifications: `Your endpoint can be certified ${often(endpointLimits.certifications)} Before you certify again, fix all checks that get-endpoint shows as failed.`,
  changes: `At most ${MOST_CHANGES_A_DAY} changes of URL and secret can be announced within 24 hours.`,
}

/** 429, for what a partner does too often. */
export const tooMany = (limit: EndpointLimit, seconds: number) =>
  retryLater('RATE_LIMITED', whatIsLimited[limit], seconds)

export const tooManyActions = () => tooMany('actions', endpointLimits.actions.everyMinutes * 60)

export const actorOf = (
  { partnerId, keyId }: FastifyRequest,
  environment: Environment,
): SelfServiceActor => ({ partnerId, keyId, environment })

/** Does `work`, with what the record refuses as an error of the API. The response shows the limit that was used. */
export async function orRefusal<Result extends { used?: UsedLimit }>(
  reply: FastifyReply,
  work: Promise<Result>,
): Promise<Result> {
  const result = await work.catch((error: unknown) => {
    if (!(error instanceof SelfServiceRefusal)) throw error
    const { limit, reason } = error
    if (limit === undefined) throw new ApiError(codes[reason], messages[reason])
    showLimit(reply, `endpoint-${limit.name}`, limit)
    throw tooMany(limit.name, limit.moreInSeconds)
  })
  if (result.used !== undefined) showLimit(reply, `endpoint-${result.used.name}`, result.used)
  return result
}

const codes = {
  off: 'SELF_SERVICE_OFF',
  too_many: 'RATE_LIMITED',
  no_endpoint: 'NO_ENDPOINT',
  no_candidate: 'NO_CANDIDATE',
  announced: 'NO_CANDIDATE',
  paused_by_staff: 'PAUSED_BY_STAFF',
} as const

const messages: Partial<Record<SelfServiceRefusal['reason'], string>> = {
  announced: 'Your new URL is certified already. get-endpoint shows when it takes effect.',
}
