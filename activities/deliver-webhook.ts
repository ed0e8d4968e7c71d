import { sleep } from '@temporalio/activity'
import type { Sql } from '../src/database/sql.ts'
import { beginAttempt } from '../src/deliveries/begin-attempt.ts'
import type { AttemptTrigger, DeliveryState } from '../src/deliveries/delivery-states.ts'
import { deliveryQueue, type DeliveryQueue } from '../src/deliveries/delivery.ts'
import { nextAsked } from '../src/deliveries/resends.ts'
import { beginProbe } from '../src/endpoints/endpoint-review.ts'
import { partnerOf } from '../src/leads/lead.ts'
import type { DeliveryFailure } from '../src/leads/referral-state.ts'
import type { WorkerObserver } from '../src/observe/worker-metrics.ts'
import { again } from './activity-context.ts'
import type { Attempts } from './attempts.ts'
import type { WakeLead } from './wake-leads.ts'

/** With the lead's queue after it. */
export interface DeliveryAnswer extends DeliveryQueue {
  /** Of a resend, replay or probe: `failed`, when the endpoint did not take it. */
  outcome: Exclude<DeliveryState, 'pending'> | 'held' | 'failed' | 'missing'
}

export interface DeliveryDependencies {
  sql: Sql
  attempts: Attempts
  encryptionKeys: readonly Buffer[]
  observe: Pick<WorkerObserver, 'unreadable'>
  tellFailure: TellFailure
}

/** Tells the lead's workflow, for operators, that its webhook fails. Waits for nothing and never throws. */
export type TellFailure = (leadId: number, failure: DeliveryFailure) => void

/**
 * Makes one attempt at a delivery, or says when to come back. "Come back" is a failure with its own delay, so
 * that Temporal does the waiting and no place in the schedule is lost to a crash or a deployment.
 */
export function deliverWebhookActivity(dependencies: DeliveryDependencies) {
  const { sql, attempts, encryptionKeys, observe, tellFailure } = dependencies
  async function attemptOnce(
    leadId: number,
    sequence: number,
    trigger: AttemptTrigger,
  ): Promise<DeliveryAnswer['outcome']> {
    await attempts.ended(leadId, sequence)
    const partnerId = await partnerOf(sql, leadId)
    if (partnerId === undefined) return 'missing'
    const wanted = { leadId, sequence, trigger }
    const mayTake = attempts.mayTake(leadId, sequence)
    const attempt = await attempts.begin(partnerId, () => beginAttempt(sql, wanted, encryptionKeys, mayTake))
    if (attempt === undefined)
      throw again('the endpoint has enough requests in flight', attempts.turnAwayMs(partnerId))
    const { begun, making } = attempt
    if (begun.kind === 'unreadable') {
      observe.unreadable(begun)
      throw again(begun.reason, UNREADABLE_MS)
    }
    if (begun.kind === 'wait') throw again(waits[begun.why], begun.forMs)
    if (begun.kind === 'held') return 'held'
    if (making === undefined)
      return begun.kind === 'settled' && begun.state !== 'pending' ? begun.state : 'missing'
    const { end, retry } = await making
    if (retry) {
      const { failures, reason, afterMs } = retry
      tellFailure(leadId, { sequence, failures, reason })
      throw again(`failure ${failures}: ${reason}`, afterMs)
    }
    if (end === 'superseded') throw again('another request of this delivery decides', 1000)
    return end
  }

  return async (leadId: number, sequence: number, trigger: AttemptTrigger): Promise<DeliveryAnswer> => {
    const outcome = await attemptOnce(leadId, sequence, trigger)
    return { outcome, ...(await deliveryQueue(sql, leadId)) }
  }
}

/** Staff have to act; the partner's webhooks wait meanwhile. */
const UNREADABLE_MS = 60_000

/** What operators see at the pending activity. */
const waits = {
  leased: 'another request of this delivery is in flight',
  not_due: 'the next attempt is not due yet',
}

/** Five resends a second at most, one at a time: live traffic has ten at a time. */
const RESEND_PACE_MS = 200

/**
 * Sends the next settled webhook that a partner or staff asked for, below live traffic: a success makes it delivered, a
 * failure changes nothing.
 *
 * @returns whether more of them may be sent now.
 */
export function resendWebhookActivity(dependencies: DeliveryDependencies) {
  const deliver = deliverWebhookActivity(dependencies)
  return async (partnerId: number): Promise<boolean> => {
    const next = await nextAsked(dependencies.sql, partnerId)
    if (next === undefined) return false
    const sending = deliver(next.leadId, next.sequence, next.asked)
    const [{ outcome }] = await Promise.all([sending, sleep(RESEND_PACE_MS)])
    return outcome !== 'held'
  }
}

/**
 * Tries a paused endpoint with the oldest webhook that waits, under that delivery's own lease. A success resumes
 * the endpoint, in the transaction that records it; a failure changes nothing.
 */
export function probeEndpointActivity(dependencies: DeliveryDependencies & { wakeLead: WakeLead }) {
  const deliver = deliverWebhookActivity(dependencies)
  return async (partnerId: number): Promise<'nothing' | 'delivered' | 'failed'> => {
    const oldest = await beginProbe(dependencies.sql, partnerId)
    if (oldest === undefined) return 'nothing'
    const { outcome } = await deliver(oldest.leadId, oldest.sequence, 'probe')
    if (outcome !== 'delivered') return 'failed'
    // A lead with nothing left to send is not woken with the others. Not awaited: a probe that failed here would be
    // repeated, with another webhook.
    void dependencies.wakeLead(oldest.leadId).catch(() => undefined)
    return 'delivered'
  }
}
