import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common'
import { type Begun, beginAttempt, type ReadSecrets, type StartedAttempt } from '../src/db/begin-attempt.ts'
import { deliveryQueue } from '../src/db/delivery-queue.ts'
import { LEASE_SECONDS } from '../src/db/endpoint-busy.ts'
import type { AttemptTrigger } from '../src/db/entities/attempt.ts'
import {
  type AttemptOutcome,
  finishAttempt,
  type FailureFacts,
  type Finished,
} from '../src/db/finish-attempt.ts'
import { leadPartners } from '../src/db/lead-partners.ts'
import type { Sql } from '../src/db/orm.ts'
import type { PartnerGate } from '../src/db/partner-gate.ts'
import { failureReason } from '../src/domain/referral.ts'
import type { WorkerObserver } from '../src/metrics/worker.ts'
import { afterFailure, attemptDelayMs, nextAttemptAt, restMs } from '../src/webhooks/schedule.ts'
import { decryptSecret, SecretError } from '../src/webhooks/secrets.ts'
import { signedHeaders } from '../src/webhooks/signature.ts'
import { insist } from './insist.ts'

export type SendWebhook = (request: {
  url: string
  headers: Record<string, string>
  body: string
}) => Promise<AttemptOutcome & { retryAfter: string | null }>

export interface DeliveryAnswer {
  outcome: 'delivered' | 'given_up' | 'canceled' | 'parked' | 'unchanged' | 'unknown'
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
  /** Tells the lead's workflow something, without waiting for it. */
  signalLead?: SignalLead
}

/** Never rejects: what it tells is for operators, and nothing depends on it. */
export type SignalLead = (leadId: number, name: string, argument: object) => void

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
    const delayMs = (failures: number) => attemptDelayMs(failures, Math.random)
    const until = performance.now() + LEASE_SECONDS * 1000
    const partnerId = await partnerOf(leadId)
    if (partnerId === undefined) return { outcome: 'unknown', ...(await deliveryQueue(sql, leadId)) }
    const begun = await gate.begin(partnerId, () =>
      beginAttempt(sql, leadId, sequence, trigger, delayMs, readSecrets),
    )
    if (begun.kind === 'unreadable') observe.unreadable(begun)
    const tell = (failures: number, reason: string) => {
      const trouble = { sequence, failures, reason }
      if (WORTH_TELLING.includes(failures)) dependencies.signalLead?.(leadId, 'delivery_trouble', trouble)
    }
    // for as long as the lease: the answer of an endpoint is not asked for twice because PostgreSQL was away for a moment
    const finish: Finish = (write) => insist(() => gate.finish(partnerId, write), until - performance.now())
    const outcome =
      begun.kind === 'send' ? await attempt(dependencies, begun, trigger, { tell, finish }) : settle(begun)
    return { outcome, ...(await deliveryQueue(sql, leadId)) }
  }
}

function settle(begun: Exclude<Begun, StartedAttempt>): DeliveryAnswer['outcome'] {
  if (begun.kind === 'again') throw again(begun.afterMs, reasons[begun.reason])
  if (begun.kind === 'unreadable') throw again(UNREADABLE_MS, 'the signing secret cannot be decrypted')
  if (begun.kind === 'settled') return begun.state === 'pending' ? 'unknown' : begun.state
  return begun.kind
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
  not_yet: 'the next attempt is not due yet',
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
  const { eventId: id, attemptId, body, url, secrets } = started
  const headers = { ...signedHeaders({ id, body, at: new Date(), secrets }), ...markReplay(trigger) }
  const outcome = await send({ url, body, headers })
  observe.attempted(outcome)
  const judge = (facts: FailureFacts) => judgeFailure(facts, outcome)
  const finished = await finish(() => finishAttempt(sql, { attemptId, eventId: id, trigger }, outcome, judge))
  finished.notices?.forEach((notice) => observe.noticed(notice))
  if (finished.kind === 'failed') tell(finished.failures, failureReason(outcome.status, outcome.errorCode))
  return conclude(finished, outcome)
}

/** Tells a receiver that keeps no ids that this event is not news. */
function markReplay(trigger: AttemptTrigger): Record<string, string> {
  return trigger === 'resend' || trigger === 'replay' ? { 'webhook-replay': 'true' } : {}
}

function conclude(finished: Finished, { status, errorCode }: AttemptOutcome): DeliveryAnswer['outcome'] {
  const reason = failureReason(status, errorCode)
  if (finished.kind === 'failed') throw again(finished.afterMs, `failure ${finished.failures}: ${reason}`)
  if (finished.kind === 'superseded') throw again(1000, 'another request of this delivery decides')
  return finished.kind === 'paused' ? 'parked' : finished.kind
}

function judgeFailure(
  facts: FailureFacts,
  { status, retryAfter }: { status: number | null; retryAfter: string | null },
) {
  const { failures, failingSince, isCurrent, now } = facts
  const random = Math.random
  if (!isCurrent) {
    return {
      verdict: 'retry' as const,
      nextAttemptAt: nextAttemptAt({ failures, retryAfter: null, now, random }),
      restMs: 0,
    }
  }
  // an endpoint that works until this attempt took others since any earlier one; else its last success was just
  // before it began to fail
  const lastSuccessAt = failingSince ?? now
  const verdict = afterFailure({ ...facts, status, lastSuccessAt })
  return {
    verdict,
    nextAttemptAt: nextAttemptAt({ failures, retryAfter, now, random }),
    restMs: restMs({ status, failingSince, now }),
  }
}

function again(afterMs: number, message: string): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: 'Again',
    nextRetryDelay: Math.max(1, Math.round(afterMs)),
    // expected, so no error in logs and metrics
    category: ApplicationFailureCategory.BENIGN,
  })
}
