import type { AttemptOutcome } from '../src/db/deliveries/attempt-end.ts'
import {
  type Begun,
  beginAttempt,
  type ReadSecrets,
  type StartedAttempt,
} from '../src/db/deliveries/begin-attempt.ts'
import { deliveryQueue } from '../src/db/deliveries/queue.ts'
import { finishAttempt, type Finished } from '../src/db/deliveries/finish-attempt.ts'
import { leadPartners } from '../src/db/leads/lead-partners.ts'
import type { Sql } from '../src/db/orm.ts'
import type { PartnerGate } from '../src/db/endpoints/partner-gate.ts'
import {
  type AttemptTrigger,
  type DeliveryState,
  LEASE_MS,
  REQUEST_LIMIT_MS,
} from '../src/domain/delivery.ts'
import { type DeliveryFailure, failureReason } from '../src/domain/referral.ts'
import type { WorkerObserver } from '../src/metrics/worker.ts'
import { decryptSecret, SecretError } from '../src/webhooks/secrets.ts'
import { signedHeaders } from '../src/webhooks/signature.ts'
import { again } from './again.ts'
import { retryFor } from './retry-for.ts'

export type SendWebhook = (request: {
  url: string
  headers: Record<string, string>
  body: string
}) => Promise<AttemptOutcome>

export interface DeliveryAnswer {
  /** Of a resend, replay or probe: `failed`, when the endpoint did not take it. */
  outcome: Exclude<DeliveryState, 'pending'> | 'held' | 'failed' | 'missing'
  /** The lead's first open delivery; `last + 1` when none is open. */
  next: number
  last: number
}

export interface DeliveryDependencies {
  sql: Sql
  /** One for all of a process. */
  gate: PartnerGate
  send: SendWebhook
  encryptionKeys: readonly Buffer[]
  observe: Pick<WorkerObserver, 'attempted' | 'noticed' | 'unreadable'>
  tellFailure?: TellFailure
}

/** Tells the lead's workflow, for operators, that its webhook fails. Waits for nothing and never throws. */
export type TellFailure = (leadId: number, failure: DeliveryFailure) => void

/** Failures in a row of which operators are told: that it does not work, and that it still does not. */
const WORTH_TELLING = [1, 4]

/**
 * Makes one attempt at a delivery, or says when to come back. "Come back" is a failure with its own delay, so
 * that Temporal does the waiting and no place in the schedule is lost to a crash or a deployment.
 */
export function deliverWebhookActivity(dependencies: DeliveryDependencies) {
  const { sql, gate, encryptionKeys, observe } = dependencies
  const readSecrets = secretReader(encryptionKeys)
  const partnerOf = leadPartners(sql)
  return async (leadId: number, sequence: number, trigger: AttemptTrigger): Promise<DeliveryAnswer> => {
    const until = performance.now() + LEASE_MS
    const partnerId = await partnerOf(leadId)
    if (partnerId === undefined) return { outcome: 'missing', ...(await deliveryQueue(sql, leadId)) }
    const wanted = { leadId, sequence, trigger }
    const begun = await gate.begin(partnerId, () =>
      beginAttempt(sql, wanted, { random: Math.random, readSecrets }),
    )
    if (begun.kind === 'unreadable') observe.unreadable(begun)
    const tell = (failures: number, reason: string) => {
      const failure = { sequence, failures, reason }
      if (WORTH_TELLING.includes(failures)) dependencies.tellFailure?.(leadId, failure)
    }
    // for as long as the lease: the answer of an endpoint is not asked for twice because PostgreSQL was away for a moment
    const finish: Finish = (write) => retryFor(() => gate.finish(partnerId, write), until - performance.now())
    const outcome =
      begun.kind === 'send' ? await attempt(dependencies, begun, trigger, { tell, finish }) : settle(begun)
    return { outcome, ...(await deliveryQueue(sql, leadId)) }
  }
}

function settle(begun: Exclude<Begun, StartedAttempt>): DeliveryAnswer['outcome'] {
  if (begun.kind === 'wait') throw again(reasons[begun.why], begun.forMs)
  if (begun.kind === 'unreadable') throw again('the signing secret cannot be decrypted', UNREADABLE_MS)
  if (begun.kind === 'held') return 'held'
  return begun.kind === 'settled' && begun.state !== 'pending' ? begun.state : 'missing'
}

/** Staff have to act; the partner's webhooks wait meanwhile. */
const UNREADABLE_MS = 60_000

function secretReader(keys: readonly Buffer[]): ReadSecrets {
  return (ciphertexts) => {
    try {
      return { secrets: ciphertexts.map((ciphertext) => decryptSecret(ciphertext, keys)) }
    } catch (error) {
      if (error instanceof SecretError) return { unreadable: error.message }
      throw error
    }
  }
}

const reasons = {
  leased: 'another request of this delivery is in flight',
  not_due: 'the next attempt is not due yet',
  busy: 'the endpoint is left alone, or has enough requests in flight',
  locked: 'somebody else is changing the endpoint or this delivery',
}

type Finish = <Result>(write: () => Promise<Result>) => Promise<Result>

async function attempt(
  { sql, send, observe }: DeliveryDependencies,
  started: StartedAttempt,
  trigger: AttemptTrigger,
  { tell, finish }: { tell: (failures: number, reason: string) => void; finish: Finish },
): Promise<DeliveryAnswer['outcome']> {
  const { eventId: id, attemptId, body, url, secrets, beganAt } = started
  // frozen meanwhile: the lease would end before the request does, and somebody else may send by then
  if (performance.now() - beganAt > LEASE_MS - REQUEST_LIMIT_MS)
    throw again('the attempt began too late', 1000)
  const headers = { ...signedHeaders({ id, body, at: new Date(), secrets }), ...markReplay(trigger) }
  const outcome = await send({ url, body, headers })
  observe.attempted(outcome)
  const open = { attemptId, eventId: id, trigger }
  const finished = await finish(() => finishAttempt(sql, open, outcome, Math.random))
  for (const notice of finished.notices) observe.noticed(notice)
  const reason = failureReason(outcome.status, outcome.errorCode)
  if (finished.retry) tell(finished.retry.failures, reason)
  return conclude(finished, reason)
}

/** Tells a receiver that keeps no ids that this event is not news. */
function markReplay(trigger: AttemptTrigger): Record<string, string> {
  return trigger === 'resend' || trigger === 'replay' ? { 'webhook-replay': 'true' } : {}
}

function conclude({ end, retry }: Finished, reason: string): DeliveryAnswer['outcome'] {
  if (retry) throw again(`failure ${retry.failures}: ${reason}`, retry.afterMs)
  if (end === 'superseded') throw again('another request of this delivery decides', 1000)
  return end
}
