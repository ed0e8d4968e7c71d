import { sql as raw } from 'kysely'
import { type AttemptOutcome, deliver, endOf } from './attempt-end.ts'
import type { AttemptTrigger } from './entities/attempt.ts'
import { drainAfterProbe } from './endpoint-states.ts'
import type { EndpointNotice } from './endpoint-trouble.ts'
import { FAILING_AFTER, type NoticeKind, oweNotice } from './notices.ts'
import type { Sql } from './orm.ts'

export type { AttemptOutcome }

/** What a failure is judged by. */
export interface FailureFacts {
  /** Failed attempts of the delivery, with this one. */
  failures: number
  /** Since when the endpoint only fails; `null` when it worked until this attempt. */
  failingSince: Date | null
  /** When the delivery's ninth attempt was made; `null` before the tenth failure. */
  ninthAttemptAt: Date | null
  now: Date
}

export interface Verdict {
  verdict: 'retry' | 'give_up' | 'pause'
  nextAttemptAt: Date
  /** How long nothing at all is sent to the endpoint. */
  restMs: number
}

/** `superseded`: the lease had ended and somebody else decides about the delivery. */
export type Finished = Ended & { notices?: EndpointNotice[] }
type Ended =
  | { kind: 'delivered' | 'given_up' | 'paused' | 'superseded' | 'unchanged' }
  | { kind: 'failed'; failures: number; afterMs: number }

/**
 * Writes down how an attempt ended. The delivery changes only while the lease is still this attempt's; a 2xx
 * always counts, because the partner has the event. A failed resend, replay or probe changes nothing.
 */
export async function finishAttempt(
  sql: Sql,
  attempt: { attemptId: string; eventId: string; trigger: AttemptTrigger },
  outcome: AttemptOutcome,
  judge: (facts: FailureFacts) => Verdict,
): Promise<Finished> {
  if (outcome.ok) return succeed(sql, attempt, outcome)
  return sql.transaction().execute(async (trx) => {
    const delivery = await lockDelivery(trx, attempt.eventId)
    const ours = delivery.lease === attempt.attemptId
    if (!ours || attempt.trigger !== 'scheduled') {
      if (ours) await release(trx, attempt.eventId)
      await close(trx, attempt.attemptId, outcome, null)
      return { kind: ours ? 'unchanged' : 'superseded' }
    }
    const { endpoint, facts, ...verdict } = await judgeFailure(trx, delivery, judge)
    await close(trx, attempt.attemptId, outcome, verdict.verdict === 'retry' ? verdict.nextAttemptAt : null)
    const ended = await applyFailure(trx, { ...delivery, endpoint }, facts, verdict, outcome)
    return { ...ended, notices: noticesOf({ ...delivery, endpoint }, facts, verdict, outcome) }
  })
}

function lockDelivery(trx: Sql, eventId: string) {
  return trx
    .selectFrom('deliveries')
    .select(['event_id', 'partner_id', 'state', 'failures', 'lease'])
    .select(raw<Date>`clock_timestamp()`.as('now'))
    .where('event_id', '=', eventId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

type LockedDelivery = Awaited<ReturnType<typeof lockDelivery>>

async function succeed(
  sql: Sql,
  { attemptId, eventId, trigger }: { attemptId: string; eventId: string; trigger: AttemptTrigger },
  outcome: AttemptOutcome,
): Promise<Finished> {
  if (trigger !== 'probe') await deliver(sql, eventId, attemptId, outcome)
  else {
    await sql.transaction().execute(async (trx) => {
      const partnerId = await deliver(trx, eventId, attemptId, outcome)
      await drainAfterProbe(trx, partnerId)
    })
  }
  return { kind: 'delivered' }
}

async function release(trx: Sql, eventId: string): Promise<void> {
  await trx
    .updateTable('deliveries')
    .set({ lease: null, leased_until: null })
    .where('event_id', '=', eventId)
    .execute()
}

async function close(trx: Sql, attemptId: string, outcome: AttemptOutcome, next: Date | null): Promise<void> {
  await trx.updateTable('attempts').set(endOf(outcome, next)).where('id', '=', attemptId).execute()
}

async function judgeFailure(trx: Sql, delivery: LockedDelivery, judge: (facts: FailureFacts) => Verdict) {
  const endpoint = await trx
    .selectFrom('endpoints')
    .select(['id', 'state', 'trouble', 'failing_since'])
    .where('partner_id', '=', delivery.partner_id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  const failures = delivery.failures + 1
  const ninthAttemptAt = failures < 10 ? null : await ninthAttempt(trx, delivery.event_id)
  const facts = { failures, failingSince: endpoint.failing_since, ninthAttemptAt, now: delivery.now }
  return { endpoint, facts, ...judge(facts) }
}

type LockedEndpoint = Awaited<ReturnType<typeof judgeFailure>>['endpoint']

async function ninthAttempt(trx: Sql, eventId: string): Promise<Date | null> {
  const ninth = await trx
    .selectFrom('attempts')
    .select('started_at')
    .where('event_id', '=', eventId)
    .where('trigger', '=', 'scheduled')
    .where('error_code', 'is distinct from', 'interrupted')
    .orderBy('number')
    .offset(8)
    .limit(1)
    .executeTakeFirst()
  return ninth?.started_at ?? null
}

async function applyFailure(
  trx: Sql,
  delivery: LockedDelivery & { endpoint: LockedEndpoint },
  { failures, failingSince, now }: FailureFacts,
  { verdict, nextAttemptAt, restMs }: Verdict,
  outcome: AttemptOutcome,
): Promise<Ended> {
  const paused = {
    state: 'paused' as const,
    reason: pauseReason(outcome),
    since: now,
    trouble: 'paused' as const,
  }
  const isTroubled = failures === FAILING_AFTER && delivery.endpoint.trouble === null
  // written only when it changes: a row that every attempt updated would make them wait for each other
  if (failingSince === null || verdict === 'pause' || restMs > 0 || isTroubled) {
    await trx
      .updateTable('endpoints')
      .set({
        failing_since: failingSince ?? now,
        ...(restMs > 0 ? { blocked_until: new Date(now.getTime() + restMs) } : {}),
        ...(isTroubled ? { trouble: 'failing' as const } : {}),
        ...(verdict === 'pause' ? paused : {}),
      })
      .where('partner_id', '=', delivery.partner_id)
      .execute()
  }
  const givenUp = { state: 'given_up' as const, settled_at: now }
  await trx
    .updateTable('deliveries')
    .set({
      failures,
      next_attempt_at: nextAttemptAt,
      lease: null,
      leased_until: null,
      ...(verdict === 'give_up' ? givenUp : {}),
    })
    .where('event_id', '=', delivery.event_id)
    .execute()
  const { partner_id: partnerId, event_id: eventId } = delivery
  if (failures === FAILING_AFTER) await oweNotice(trx, partnerId, 'failing', eventId)
  if (verdict === 'give_up') await oweNotice(trx, partnerId, 'given_up', eventId)
  if (verdict === 'give_up') return { kind: 'given_up' }
  if (verdict === 'pause') return { kind: 'paused' }
  return { kind: 'failed', failures, afterMs: nextAttemptAt.getTime() - now.getTime() }
}

const pauseReason = ({ status }: AttemptOutcome) => (status === 410 ? 'gone' : 'failing')

/** What operators hear of this failure, also when the partner was mailed of the like a moment ago. */
function noticesOf(
  { event_id: eventId, partner_id: partnerId, endpoint }: LockedDelivery & { endpoint: LockedEndpoint },
  { failures }: FailureFacts,
  { verdict }: Pick<Verdict, 'verdict'>,
  outcome: AttemptOutcome,
): EndpointNotice[] {
  const why = outcome.status === null ? (outcome.errorCode ?? 'unknown') : `answered ${outcome.status}`
  const notice = (kind: NoticeKind, reason = why) => ({
    kind,
    endpointId: endpoint.id,
    partnerId,
    reason,
    eventId,
  })
  return [
    ...(failures === FAILING_AFTER ? [notice('failing')] : []),
    ...(verdict === 'give_up' ? [notice('given_up')] : []),
    // requests that were in flight beside the one that paused it have the same verdict
    ...(verdict === 'pause' && endpoint.state !== 'paused' ? [notice('paused', pauseReason(outcome))] : []),
  ]
}
