import { sql as raw } from 'kysely'
import { type AttemptOutcome, deliver, type EndedAttempt, endOf, endOfResend } from './attempt-end.ts'
import { drainAfterProbe, isOfRevision, nextRevision } from './endpoint-states.ts'
import type { EndpointNotice } from './endpoint-trouble.ts'
import { ninthAttempt } from './ninth-attempt.ts'
import { FAILING_AFTER, type NoticeKind, oweNotice } from './notices.ts'
import type { Sql } from './orm.ts'

export type { AttemptOutcome }

/** What a failure is judged by. */
export interface FailureFacts {
  /** Failed attempts of the delivery, with this one. */
  failures: number
  /** Since when the endpoint only fails; `null` when it worked until this attempt. */
  failingSince: Date | null
  /** When the attempt was made that brought the failures to nine; `null` before the tenth failure. */
  ninthAttemptAt: Date | null
  /** Whether the endpoint's revision was called: its URL is the same, and nobody paused or resumed it since. */
  isCurrent: boolean
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
 *
 * The endpoint is judged only by attempts of its current revision: what its URL before answered, or what came after
 * somebody paused or resumed it, settles the delivery and nothing else.
 */
export async function finishAttempt(
  sql: Sql,
  attempt: EndedAttempt,
  outcome: AttemptOutcome,
  judge: (facts: FailureFacts) => Verdict,
): Promise<Finished> {
  if (outcome.ok) return succeed(sql, attempt, outcome)
  return sql.transaction().execute(async (trx) => {
    const delivery = await lockDelivery(trx, attempt.eventId)
    const ours = delivery.lease === attempt.attemptId
    if (!ours || attempt.trigger !== 'scheduled') {
      if (ours) await release(trx, attempt)
      await close(trx, attempt.attemptId, outcome, null)
      return { kind: ours ? 'unchanged' : 'superseded' }
    }
    const { endpoint, facts, verdict } = await judgeFailure(trx, delivery, attempt.attemptId, judge)
    const failure = { delivery, endpoint, facts, verdict, outcome }
    await close(trx, attempt.attemptId, outcome, verdict.verdict === 'retry' ? verdict.nextAttemptAt : null)
    await failDelivery(trx, failure, attempt.attemptId)
    if (!facts.isCurrent) return endOfFailure(failure)
    await failEndpoint(trx, failure)
    await oweNotices(trx, failure)
    return { ...endOfFailure(failure), notices: noticesOf(failure) }
  })
}

function lockDelivery(trx: Sql, eventId: string) {
  return trx
    .selectFrom('deliveries')
    .select(['event_id', 'partner_id', 'state', 'failures', 'ninth_attempt_at', 'lease'])
    .select(raw<Date>`clock_timestamp()`.as('now'))
    .where('event_id', '=', eventId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

type LockedDelivery = Awaited<ReturnType<typeof lockDelivery>>

async function succeed(sql: Sql, attempt: EndedAttempt, outcome: AttemptOutcome): Promise<Finished> {
  if (attempt.trigger !== 'probe') await deliver(sql, attempt, outcome)
  else {
    await sql.transaction().execute(async (trx) => {
      const partnerId = await deliver(trx, attempt, outcome)
      await drainAfterProbe(trx, partnerId, attempt.attemptId)
    })
  }
  return { kind: 'delivered' }
}

async function release(trx: Sql, { eventId, trigger }: EndedAttempt): Promise<void> {
  await trx
    .updateTable('deliveries')
    .set({ lease: null, leased_until: null, ...endOfResend(trigger) })
    .where('event_id', '=', eventId)
    .execute()
}

async function close(trx: Sql, attemptId: string, outcome: AttemptOutcome, next: Date | null): Promise<void> {
  await trx.updateTable('attempts').set(endOf(outcome, next)).where('id', '=', attemptId).execute()
}

async function judgeFailure(
  trx: Sql,
  delivery: LockedDelivery,
  attemptId: string,
  judge: (facts: FailureFacts) => Verdict,
) {
  const endpoint = await trx
    .selectFrom('endpoints')
    .select(['id', 'state', 'trouble', 'failing_since', isOfRevision(attemptId).as('is_current')])
    .where('partner_id', '=', delivery.partner_id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  const facts: FailureFacts = {
    failures: delivery.failures + 1,
    failingSince: endpoint.failing_since,
    ninthAttemptAt: delivery.ninth_attempt_at,
    isCurrent: endpoint.is_current,
    now: delivery.now,
  }
  return { endpoint, facts, verdict: judge(facts) }
}

interface Failure {
  delivery: LockedDelivery
  endpoint: Awaited<ReturnType<typeof judgeFailure>>['endpoint']
  facts: FailureFacts
  verdict: Verdict
  outcome: AttemptOutcome
}

async function failDelivery(
  trx: Sql,
  { delivery, facts, verdict: { verdict, nextAttemptAt } }: Failure,
  attemptId: string,
): Promise<void> {
  const { failures, now } = facts
  const givenUp = { state: 'given_up' as const, settled_at: now }
  await trx
    .updateTable('deliveries')
    .set({
      failures,
      ...ninthAttempt(failures, raw<Date>`(select started_at from attempts where id = ${attemptId})`),
      next_attempt_at: nextAttemptAt,
      lease: null,
      leased_until: null,
      ...(verdict === 'give_up' ? givenUp : {}),
    })
    .where('event_id', '=', delivery.event_id)
    .execute()
}

async function failEndpoint(trx: Sql, { endpoint, facts, verdict, outcome }: Failure): Promise<void> {
  const { failures, failingSince, now } = facts
  const isPaused = verdict.verdict === 'pause'
  const paused = {
    state: 'paused' as const,
    reason: pauseReason(outcome),
    paused_by: 'service' as const,
    revision: nextRevision,
    since: now,
    trouble: 'paused' as const,
  }
  const isTroubled = failures === FAILING_AFTER && endpoint.trouble === null
  // written only when it changes: a row that every attempt updated would make them wait for each other
  if (failingSince !== null && !isPaused && verdict.restMs === 0 && !isTroubled) return
  await trx
    .updateTable('endpoints')
    .set({
      failing_since: failingSince ?? now,
      ...(verdict.restMs > 0 ? { blocked_until: new Date(now.getTime() + verdict.restMs) } : {}),
      ...(isTroubled ? { trouble: 'failing' as const } : {}),
      ...(isPaused ? paused : {}),
    })
    .where('id', '=', endpoint.id)
    .execute()
}

async function oweNotices(trx: Sql, { delivery, facts, verdict: { verdict } }: Failure): Promise<void> {
  const { partner_id: partnerId, event_id: eventId } = delivery
  if (facts.failures === FAILING_AFTER) await oweNotice(trx, partnerId, 'failing', eventId)
  if (verdict === 'give_up') await oweNotice(trx, partnerId, 'given_up', eventId)
}

function endOfFailure({ endpoint, facts, verdict: { verdict, nextAttemptAt } }: Failure): Ended {
  if (verdict === 'give_up') return { kind: 'given_up' }
  if (verdict === 'pause' || endpoint.state === 'paused') return { kind: 'paused' }
  const afterMs = nextAttemptAt.getTime() - facts.now.getTime()
  return { kind: 'failed', failures: facts.failures, afterMs }
}

const pauseReason = ({ status }: AttemptOutcome) => (status === 410 ? 'gone' : 'failing')

/** What operators hear of this failure, also when the partner was mailed of the like a moment ago. */
function noticesOf({ delivery, endpoint, facts, verdict: { verdict }, outcome }: Failure): EndpointNotice[] {
  const why = outcome.status === null ? (outcome.errorCode ?? 'unknown') : `answered ${outcome.status}`
  const notice = (kind: NoticeKind, reason = why) => ({
    kind,
    endpointId: endpoint.id,
    partnerId: delivery.partner_id,
    reason,
    eventId: delivery.event_id,
  })
  return [
    ...(facts.failures === FAILING_AFTER ? [notice('failing')] : []),
    ...(verdict === 'give_up' ? [notice('given_up')] : []),
    ...(verdict === 'pause' ? [notice('paused', pauseReason(outcome))] : []),
  ]
}
