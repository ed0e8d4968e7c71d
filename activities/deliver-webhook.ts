import { sleep } from '@temporalio/activity'
import type { Sql } from '../src/database/sql.ts'
import { beginAttempt, type Wanted } from '../src/deliveries/begin-attempt.ts'
import type { DeliveryState } from '../src/deliveries/delivery-states.ts'
import { deliveryQueue, type DeliveryQueue } from '../src/deliveries/delivery.ts'
import { nextAsked } from '../src/deliveries/resends.ts'
import { beginProbe } from '../src/endpoints/endpoint-review.ts'
import type { WorkerObserver } from '../src/observe/worker-metrics.ts'
import { again } from './activity-context.ts'
import type { Attempts } from './attempts.ts'
import type { WakeLead } from './wake-leads.ts'

/** `failed`: the endpoint did not accept a resend, replay or probe. */
type DeliveryOutcome = Exclude<DeliveryState, 'pending'> | 'held' | 'failed' | 'missing'

export interface DeliveryDependencies {
  sql: Sql
  attempts: Attempts
  encryptionKeys: readonly Buffer[]
  observe: Pick<WorkerObserver, 'unreadable'>
}

/**
 * Makes one attempt at a delivery, or says when to come back. "Come back" is a failure with its own delay, so
 * that Temporal does the waiting and no place in the schedule is lost to a crash or a deployment.
 */
export function createDeliver({ sql, attempts, encryptionKeys, observe }: DeliveryDependencies) {
  return async (partnerId: number, wanted: Wanted): Promise<DeliveryOutcome> => {
    const { leadId, sequence } = wanted
    await attempts.ended(leadId, sequence)
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
      throw again(`failure ${failures}: ${reason}`, afterMs)
    }
    if (end === 'superseded') throw again('another request of this delivery decides', 1000)
    return end
  }
}

/** The outcome, and the lead's queue after it. */
export interface DeliveryAnswer extends DeliveryQueue {
  outcome: DeliveryOutcome
}

/** Makes the next attempt of a lead's webhook in its schedule. */
export function deliverWebhookActivity(dependencies: DeliveryDependencies) {
  const deliver = createDeliver(dependencies)
  return async (leadId: number, partnerId: number, sequence: number): Promise<DeliveryAnswer> => {
    const outcome = await deliver(partnerId, { leadId, sequence, trigger: 'scheduled' })
    return { outcome, ...(await deliveryQueue(dependencies.sql, leadId)) }
  }
}

/** The wait while a secret is unreadable: staff have to act. */
const UNREADABLE_MS = 60_000

/** Why an attempt waits, as operators see it at the pending activity. */
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
  const deliver = createDeliver(dependencies)
  return async (partnerId: number): Promise<boolean> => {
    const next = await nextAsked(dependencies.sql, partnerId)
    if (next === undefined) return false
    const [outcome] = await Promise.all([deliver(partnerId, next), sleep(RESEND_PACE_MS)])
    return outcome !== 'held'
  }
}

/**
 * Tries a paused endpoint with the oldest webhook that waits, under that delivery's own lease. A success resumes
 * the endpoint, in the transaction that records it; a failure changes nothing.
 */
export function probeEndpointActivity(dependencies: DeliveryDependencies & { wakeLead: WakeLead }) {
  const deliver = createDeliver(dependencies)
  return async (partnerId: number): Promise<'nothing' | 'delivered' | 'failed'> => {
    const oldest = await beginProbe(dependencies.sql, partnerId)
    if (oldest === undefined) return 'nothing'
    if ((await deliver(partnerId, { ...oldest, trigger: 'probe' })) !== 'delivered') return 'failed'
    // A lead with nothing left to send is not woken with the others. Not awaited: a probe that failed here would be
    // repeated, with another webhook.
    void dependencies.wakeLead(oldest.leadId).catch(() => undefined)
    return 'delivered'
  }
}
