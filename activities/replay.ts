import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common'
import type { Sql } from '../src/db/orm.ts'
import { type ReplayCursor, type ReplayFilter, replayPage } from '../src/db/deliveries/replays.ts'
import type { DeliveryDependencies } from './deliver-webhook.ts'
import { deliverOnceMore } from './deliver-once-more.ts'

const PAGE = 100
const PAUSED_MS = 60_000

export function listReplayActivity({ sql }: { sql: Sql }) {
  return async (filter: ReplayFilter, after: ReplayCursor): Promise<ReplayCursor[]> =>
    replayPage(sql, filter, after, PAGE)
}

/** Sends one settled webhook once more. While the endpoint is paused it comes back every minute. */
export function replayWebhookActivity(dependencies: DeliveryDependencies) {
  const deliver = deliverOnceMore(dependencies, 'replay')
  return async (leadId: number, sequence: number): Promise<'delivered' | 'failed'> => {
    const outcome = await deliver(leadId, sequence)
    if (outcome !== 'held') return outcome
    throw ApplicationFailure.create({
      message: 'the endpoint is paused: the replay goes on when it works',
      type: 'Again',
      nextRetryDelay: PAUSED_MS,
      category: ApplicationFailureCategory.BENIGN,
    })
  }
}
