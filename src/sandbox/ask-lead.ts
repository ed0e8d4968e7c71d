import type { Client } from '@temporalio/client'
import type { FastifyRequest } from 'fastify'
import { CLOCK_MOVING, LEAD_CLOSED, type ReferralView, stateQuery } from '../../workflows/messages.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { ApiError, retryLater, unavailable } from '../http/errors.ts'
import type { LimitInFlight } from '../http/limit-in-flight.ts'
import { type Referrals, refusalOf } from '../leads/referrals.ts'
import { referralId } from '../temporal/names.ts'
import { MOST_ADVANCES } from './lead-clock.ts'

/** The sandbox's dependencies. */
export interface SandboxDependencies {
  referrals: Pick<Referrals, 'update'>
  /** Whether a lead's clock is moving. */
  isMoving: (leadId: number) => Promise<boolean>
  /** Rejects while Temporal is away. */
  reachTemporal: () => Promise<unknown>
  /** Where the worker reaches this API, with `/v1`; absent where it cannot: then there are no sinks. */
  sinkBase?: (() => string) | undefined
}

/** The dependencies of calls that ask a lead's workflow. */
export interface AskingOptions extends RouteDependencies, SandboxDependencies {
  limitAdvances: LimitInFlight
}

const LOOK_MS = 2000

/** Asks a lead's workflow whether its clock is moving: `false` also while Temporal is away, or has no worker. */
export const createIsMoving = (client: Client) => async (leadId: number) => {
  const ask = async () => client.workflow.getHandle(referralId(leadId)).query<ReferralView>(stateQuery)
  const view = await client.withDeadline(Date.now() + LOOK_MS, ask).catch(() => undefined)
  return view?.moving === true
}

/** The refusal of a request that would move one more clock. */
export const tooManyAdvances = () =>
  retryLater('RATE_LIMITED', `${MOST_ADVANCES} of your requests are moving clocks already.`, 1)

/**
 * Returns what a lead's workflow answers.
 *
 * @param failure what the log says if there is no answer.
 * @throws {ApiError} why it refuses, or that there is no answer; the workflow may still do what was asked.
 */
export async function askLead<Answer>(
  request: FastifyRequest,
  failure: string,
  ask: () => Promise<Answer | undefined>,
): Promise<Answer> {
  const answer = await ask().catch((err: unknown) => {
    if (err instanceof ApiError) throw err
    const refusal = refusalOf(err)
    if (refusal === CLOCK_MOVING) throw new ApiError('CLOCK_MOVING')
    if (refusal === LEAD_CLOSED) return undefined
    request.log.warn({ err }, failure)
    throw unavailable()
  })
  if (answer === undefined) throw new ApiError('LEAD_CLOSED')
  return answer
}
