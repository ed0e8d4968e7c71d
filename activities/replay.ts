import { sleep } from '@temporalio/activity'
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common'
import type { Sql } from '../src/db/orm.ts'
import { type ReplayCursor, type ReplayFilter, replayPage } from '../src/db/replays.ts'
import { type DeliveryDependencies, deliverWebhookActivity } from './deliver-webhook.ts'

const PAGE = 100
/** Five a second at most, one at a time: live traffic has ten at a time. */
const PACE_MS = 200
const PAUSED_MS = 60_000

export function listReplayActivity({ sql }: { sql: Sql }) {
  return async (filter: ReplayFilter, after: ReplayCursor): Promise<ReplayCursor[]> =>
    replayPage(sql, filter, after, PAGE)
}

/**
 * Sends one settled webhook once more, not faster than replays go: one attempt; a success makes it delivered, a
 * failure changes nothing. While the endpoint is paused it comes back every minute.
 */
export function replayWebhookActivity(dependencies: DeliveryDependencies) {
  const deliver = deliverWebhookActivity(dependencies)
  return async (leadId: number, sequence: number): Promise<'delivered' | 'refused'> => {
    const [{ outcome }] = await Promise.all([deliver(leadId, sequence, 'replay'), sleep(PACE_MS)])
    if (outcome !== 'parked') return outcome === 'delivered' ? 'delivered' : 'refused'
    throw ApplicationFailure.create({
      message: 'the endpoint is paused: the replay goes on when it works',
      type: 'Again',
      nextRetryDelay: PAUSED_MS,
      category: ApplicationFailureCategory.BENIGN,
    })
  }
}
