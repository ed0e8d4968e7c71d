import { sql as raw } from 'kysely'
import {
  decideFailure,
  type DeliveryChange,
  type EndpointChange,
  endWithoutEndpoint,
  type FailureDecision,
} from '../decisions/outcome-decision.ts'
import type { AttemptOutcome } from '../decisions/attempt-outcome.ts'
import { inRound } from '../decisions/round.ts'
import { deliver, endAttempt, type EndedAttempt } from './attempt-end.ts'
import { noLease } from './lease.ts'
import { columnsOf, isOfRevision, resumeAfterProbe } from '../../endpoints/statements/states.ts'
import type { EndpointNotice } from '../../endpoints/statements/incidents.ts'
import { oweNotice } from '../../endpoints/statements/notices.ts'
import type { Sql } from '../../database/sql.ts'

export interface Finished {
  end: 'delivered' | FailureDecision['end']
  /** The delivery's failures in a row, and how long until it is tried again; absent when it is not. */
  retry?: { failures: number; afterMs: number }
  notices: EndpointNotice[]
}

/** Writes down how an attempt ended, for its delivery and its endpoint. */
export async function finishAttempt(
  sql: Sql,
  attempt: EndedAttempt,
  outcome: AttemptOutcome,
): Promise<Finished> {
  if (outcome.ok) return succeed(sql, attempt, outcome)
  return sql.transaction().execute(async (trx) => {
    const { attemptId, eventId, trigger } = attempt
    const delivery = await lockDelivery(trx, attempt)
    const { holdsLease } = delivery
    const end = endWithoutEndpoint({ ...delivery, trigger })
    if (end !== undefined) {
      if (holdsLease) await release(trx, attempt)
      // asked for before it was due: it keeps its place in the schedule
      const isForOpen = trigger === 'resend' && delivery.state === 'pending'
      const next = end === 'failed' && isForOpen ? delivery.nextAttemptAt : null
      await endAttempt(trx, attempt, outcome, { next, holdsLease })
      return { end, notices: [], ...(next && { retry: retryOf(delivery, next) }) }
    }
    const { now, partnerId } = delivery
    const endpoint = await lockEndpoint(trx, partnerId, attemptId)
    const facts = { ...inRound(delivery, endpoint.round, now), trigger }
    const decision = decideFailure(facts, endpoint, outcome, { now, random: Math.random })
    const next = decision.end === 'failed' ? (decision.delivery?.nextAttemptAt ?? null) : null
    await endAttempt(trx, attempt, outcome, { next, holdsLease })
    if (decision.delivery !== null)
      await failDelivery(trx, attempt, now, { ...decision.delivery, round: endpoint.round })
    if (decision.endpoint !== null) await failEndpoint(trx, partnerId, decision.endpoint)
    for (const { kind } of decision.notices)
      if (kind !== 'paused') await oweNotice(trx, partnerId, kind, eventId)
    const about = { endpointId: endpoint.id, partnerId, eventId }
    return { ...endedAs(decision, now), notices: decision.notices.map((notice) => ({ ...notice, ...about })) }
  })
}

async function succeed(sql: Sql, attempt: EndedAttempt, outcome: AttemptOutcome): Promise<Finished> {
  const write = async (trx: Sql) => {
    const partnerId = await deliver(trx, attempt, outcome)
    if (partnerId !== undefined && attempt.trigger === 'probe')
      await resumeAfterProbe(trx, partnerId, attempt.attemptId)
    return { end: partnerId === undefined ? ('superseded' as const) : ('delivered' as const), notices: [] }
  }
  return attempt.trigger === 'probe' ? sql.transaction().execute(write) : write(sql)
}

function lockDelivery(trx: Sql, { eventId, attemptId }: EndedAttempt) {
  return trx
    .selectFrom('deliveries')
    .select(['partner_id as partnerId', 'state', 'round', 'failures', 'last_but_one_at as lastButOneAt'])
    .select('next_attempt_at as nextAttemptAt')
    .select(raw<boolean>`lease is not distinct from ${attemptId}`.as('holdsLease'))
    .select(raw<Date>`clock_timestamp()`.as('now'))
    .where('event_id', '=', eventId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

function lockEndpoint(trx: Sql, partnerId: number, attemptId: string) {
  return trx
    .selectFrom('endpoints')
    .select(['id', 'paused_by as pausedBy', 'incident', 'failing_since as failingSince', 'round'])
    .select(isOfRevision(attemptId).as('isCurrent'))
    .where('partner_id', '=', partnerId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
}

async function release(trx: Sql, { eventId, trigger }: EndedAttempt): Promise<void> {
  await trx
    .updateTable('deliveries')
    .set({ ...noLease, interruptions: 0, ...(trigger === 'resend' && { resend_requested_at: null }) })
    .where('event_id', '=', eventId)
    .execute()
}

async function failDelivery(
  trx: Sql,
  { eventId }: EndedAttempt,
  now: Date,
  { round, failures, nextAttemptAt, isGivenUp, lastButOneAt }: DeliveryChange & { round: number },
): Promise<void> {
  await trx
    .updateTable('deliveries')
    .set({
      ...noLease,
      round,
      failures,
      interruptions: 0,
      next_attempt_at: nextAttemptAt,
      last_but_one_at: lastButOneAt,
      ...(isGivenUp && { state: 'given_up' as const, settled_at: now }),
    })
    .where('event_id', '=', eventId)
    .execute()
}

async function failEndpoint(
  trx: Sql,
  partnerId: number,
  { failingSince, incident, transition }: EndpointChange,
): Promise<void> {
  await trx
    .updateTable('endpoints')
    .set({
      ...(transition && columnsOf(transition)),
      failing_since: failingSince,
      ...(incident && { incident }),
    })
    .where('partner_id', '=', partnerId)
    .execute()
}

function endedAs({ end, delivery }: FailureDecision, now: Date): Omit<Finished, 'notices'> {
  if (end !== 'failed' || delivery === null) return { end }
  return { end, retry: retryOf({ failures: delivery.failures, now }, delivery.nextAttemptAt) }
}

const retryOf = ({ failures, now }: { failures: number; now: Date }, next: Date) => ({
  failures,
  afterMs: next.getTime() - now.getTime(),
})
