import { askedSignal, wakeSignal } from '../../../../workflows/messages.ts'
import type { Client } from '@temporalio/client'
import { requestAttempt } from '../statements/resend.ts'
import type { Sql } from '../../database/orm.ts'
import { requestResends } from '../statements/resend-marks.ts'
import { ensureRunning } from '../../temporal/ensure-running.ts'
import { inBatches } from '../../temporal/in-batches.ts'
import { resendId } from '../../temporal/names.ts'
import type { Referrals } from '../../leads/workflows/referrals.ts'

/** Starts the workflow that sends a partner's marked webhooks once more; one that runs looks for more before it ends. */
export type StartResends = (partnerId: number, options?: { quietly?: boolean }) => Promise<void>

export function createResendStarter(client: Client): StartResends {
  return (partnerId, { quietly = false } = {}) =>
    ensureRunning(client, 'resend', {
      workflowId: resendId(partnerId),
      args: [partnerId],
      summary: `Resends of partner ${partnerId}`,
      ...(!quietly && { signal: askedSignal }),
    })
}

interface ResendRequest {
  eventId: string
  leadId: number
  partnerId: number
  isOpen: boolean
}

/**
 * Requests a resend, without waiting for it: of an open webhook by its lead's workflow, in order; of a settled one by a
 * mark, which needs no Temporal. Rejects if the workflow of an open one cannot be reached.
 */
export type ResendWebhook = (request: ResendRequest) => Promise<'accepted' | 'too_many'>

interface Dependencies {
  client: Client
  sql: Sql
  referrals: Referrals
  /** The marks are committed; the sweep starts the workflow. */
  onFailure: (error: unknown, partnerId: number) => void
}

export function createResender({ client, sql, referrals, onFailure }: Dependencies): ResendWebhook {
  const start = createResendStarter(client)
  // at most one connection for each partner: hundreds of requests must not delay other partners
  const request = inBatches(async (partnerId, eventIds: string[]) => {
    const requested = await requestResends(sql, partnerId, eventIds)
    // for later requests, the workflow checks again before it ends, or the sweep starts it
    if (requested.isFirst) start(partnerId).catch((error: unknown) => onFailure(error, partnerId))
    return requested
  })
  return async ({ isOpen, eventId, leadId, partnerId }) => {
    if (isOpen && (await requestAttempt(sql, { eventId }))) {
      await referrals.signal(leadId, wakeSignal)
      return 'accepted'
    }
    const { refused } = await request(partnerId, eventId)
    return refused.has(eventId) ? 'too_many' : 'accepted'
  }
}
