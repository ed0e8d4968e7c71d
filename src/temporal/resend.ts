import { askedSignal, wakeSignal } from '../../workflows/messages.ts'
import type { Client } from '@temporalio/client'
import { bringForward } from '../db/deliveries/resend.ts'
import type { Sql } from '../db/orm.ts'
import { requestResends } from '../db/deliveries/resend-marks.ts'
import { ensureRunning } from './ensure-running.ts'
import { inBatches } from './in-batches.ts'
import { resendId } from './names.ts'
import type { Referrals } from './referrals.ts'

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
 * Has a webhook sent again, without waiting for it: an open one by its lead's workflow, in its place; a settled one
 * is marked, and Temporal's state makes no difference to that. Rejects when an open one's workflow is not reached.
 */
export type ResendWebhook = (request: ResendRequest) => Promise<'accepted' | 'too_many'>

interface Dependencies {
  client: Client
  sql: Sql
  referrals: Referrals
  /** The marks were made, and the sweep starts their workflow. */
  onFailure: (error: unknown, partnerId: number) => void
}

export function createResender({ client, sql, referrals, onFailure }: Dependencies): ResendWebhook {
  const start = createResendStarter(client)
  // one connection of the pool for each partner: the others must not wait behind one that asks for hundreds
  const request = inBatches(async (partnerId, eventIds: string[]) => {
    const requested = await requestResends(sql, partnerId, eventIds)
    // those that come later find a workflow that looks again before it ends, or are found by the sweep
    if (requested.isFirst) start(partnerId).catch((error: unknown) => onFailure(error, partnerId))
    return requested
  })
  return async ({ isOpen, eventId, leadId, partnerId }) => {
    if (isOpen) {
      await bringForward(sql, eventId)
      await referrals.signal(leadId, wakeSignal)
      return 'accepted'
    }
    const { refused } = await request(partnerId, eventId)
    return refused.has(eventId) ? 'too_many' : 'accepted'
  }
}
