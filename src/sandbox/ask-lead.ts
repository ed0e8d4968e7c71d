import type { FastifyRequest } from 'fastify'
import { CLOCK_MOVING, LEAD_CLOSED } from '../../workflows/messages.ts'
import { ApiError, retryLater, unavailable } from '../http/errors.ts'
import { refusalOf } from '../leads/referrals.ts'
import { MOST_ADVANCES } from './lead-clock.ts'

/** The refusal of a request that would move one more clock. */
export const tooManyAdvances = () =>
  retryLater('RATE_LIMITED', `${MOST_ADVANCES} of your requests are moving clocks already.`, 1)

/**
 * What a lead's workflow answers.
 *
 * @param failure what the log says if there is no answer.
 * @throws {ApiError} why it refuses, or that there is no answer: it may still come to that.
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
