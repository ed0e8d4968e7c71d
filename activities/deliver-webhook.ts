import { type Begun, beginAttempt } from '../src/deliveries/begin-attempt.ts'
import { readEndpoint } from '../src/deliveries/attempt.ts'
import { deliveryQueue, type DeliveryQueue } from '../src/deliveries/delivery.ts'
import { openFailure } from '../src/leads/load-referral.ts'
import { leadPartners } from '../src/leads/lead.ts'
import type { Sql } from '../src/database/sql.ts'
import type { WorkerObserver } from '../src/observe/worker-metrics.ts'
import type { AttemptTrigger, DeliveryState } from '../src/deliveries/delivery-states.ts'
import type { DeliveryFailure } from '../src/leads/referral-state.ts'
import { again } from './activity-context.ts'
import type { AttemptMade, Attempts } from './attempts.ts'

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
  const partnerOf = leadPartners(sql)
  return async (leadId: number, sequence: number, trigger: AttemptTrigger): Promise<DeliveryAnswer> => {
    await attempts.ended(leadId, sequence)
    const partnerId = await partnerOf(leadId)
    if (partnerId === undefined) return { outcome: 'missing', ...(await deliveryQueue(sql, leadId)) }
    const wanted = { leadId, sequence, trigger }
    const mayTake = attempts.mayTake(leadId, sequence)
    const attempt = await attempts.begin(partnerId, trigger, () =>
      beginAttempt(sql, wanted, encryptionKeys, mayTake),
    )
    if (attempt === undefined) {
      const [endpoint] = await readEndpoint(sql, { partnerId, leadId })
      if (endpoint?.pausedBy && trigger !== 'probe')
        return { outcome: 'held', ...(await deliveryQueue(sql, leadId)) }
      throw again('the endpoint has enough requests in flight', attempts.turnAwayMs(partnerId))
    }
    const { begun, making } = attempt
    if (begun.kind === 'unreadable') observe.unreadable(begun)
    if (begun.kind === 'wait') throw again(await whyNotYet(sql, leadId, begun.why), begun.forMs)
    if (making === undefined)
      return { outcome: outcomeWithoutAttempt(begun), ...(await deliveryQueue(sql, leadId)) }
    const made = await making
    const { retry, reason } = made
    if (retry) tellFailure(leadId, { sequence, failures: retry.failures, reason })
    return { outcome: conclude(made), ...(await deliveryQueue(sql, leadId)) }
  }
}

/** Staff have to act; the partner's webhooks wait meanwhile. */
const UNREADABLE_MS = 60_000

type Waiting = Extract<Begun, { kind: 'wait' }>

/** What operators see at the pending activity. */
async function whyNotYet(sql: Sql, leadId: number, why: Waiting['why']): Promise<string> {
  if (why === 'leased') return 'another request of this delivery is in flight'
  const failure = await openFailure(sql, leadId)
  return failure === null ? 'the next attempt is not due yet' : describeFailure(failure)
}

function outcomeWithoutAttempt(begun: Exclude<Begun, Waiting>): DeliveryAnswer['outcome'] {
  if (begun.kind === 'unreadable') throw again(begun.reason, UNREADABLE_MS)
  if (begun.kind === 'held') return 'held'
  return begun.kind === 'settled' && begun.state !== 'pending' ? begun.state : 'missing'
}

function conclude({ end, retry, reason }: AttemptMade): DeliveryAnswer['outcome'] {
  if (retry) throw again(describeFailure({ ...retry, reason }), retry.afterMs)
  if (end === 'superseded') throw again('another request of this delivery decides', 1000)
  return end
}

const describeFailure = ({ failures, reason }: Pick<DeliveryFailure, 'failures' | 'reason'>) =>
  `failure ${failures}: ${reason}`
