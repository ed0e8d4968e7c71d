import { type RawBuilder, sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { columnsOf, isOfRound, resumeAfterProbe } from '../endpoints/endpoint.ts'
import { bothRecipients, oweNotice } from '../endpoints/notices.ts'
import type { AttemptOutcome } from '../webhooks/send.ts'
import type { Signature } from '../webhooks/signature.ts'
import type { StartedAttempt } from './attempt.ts'
import { FAILING_AFTER } from './delivery-states.ts'
import { noLease, noLeaseNorRequest } from './delivery.ts'
import { decideFailure, type FailureDecision, failureReason } from './outcome-decision.ts'
import { inRound } from './retry-schedule.ts'

interface EndedAttempt extends Pick<StartedAttempt, 'attemptId' | 'eventId' | 'trigger'> {
  signed: Signature
}

export interface Finished extends Pick<FailureDecision, 'notices'> {
  end: 'delivered' | FailureDecision['end']
  /** The delivery's failures in a row, the reason of the latest, and the wait until the next attempt; absent if there is none. */
  retry?: { failures: number; reason: string; afterMs: number }
}

/** Writes the outcome of an attempt: to the attempt, its delivery and its endpoint. */
export async function finishAttempt(
  sql: Sql,
  attempt: EndedAttempt,
  outcome: AttemptOutcome,
): Promise<Finished> {
  if (!outcome.ok) return sql.transaction().execute((trx) => fail(trx, attempt, outcome))
  if (attempt.trigger !== 'probe') return succeed(sql, attempt, outcome)
  return sql.transaction().execute((trx) => succeed(trx, attempt, outcome))
}

/**
 * Writes a 2xx in one statement, because it needs no decision: the delivery, then its endpoint, and the attempt. Without the
 * lease, only the attempt is written. An accepted probe ends the endpoint's incident; any other success does once no other
 * open webhook fails.
 */
async function succeed(sql: Sql, attempt: EndedAttempt, outcome: AttemptOutcome): Promise<Finished> {
  const { attemptId, eventId, trigger } = attempt
  const others = raw<boolean>`(${trigger !== 'probe'} and exists (
    select from deliveries d where d.partner_id = endpoints.partner_id and d.state = 'pending'
      and d.round = endpoints.round and d.failures >= ${FAILING_AFTER} and d.event_id <> ${eventId}
  ))`
  const { rows } = await raw<{ partner_id: number }>`
    with delivery as (
      update deliveries set state = 'delivered', lease = null, interruptions = 0,
        settled_at = case state when 'delivered' then settled_at else clock_timestamp() end, asked = null
      where event_id = ${eventId} and lease = ${attemptId} returning partner_id
    ), endpoint as (
      -- only when it changes: if every success updated this row, they would wait for each other
      update endpoints set failing_since = null, incident = incident and ${others} from delivery
      where endpoints.partner_id = delivery.partner_id and ${isOfRound(attemptId)}
        and (failing_since is not null or incident and not ${others})
      returning endpoints.partner_id, incident
    ), notice as (
      -- "before" is the row as it was before this statement
      insert into notices (partner_id, kind, recipient) select partner_id, 'recovered', recipient
      from endpoint join endpoints before using (partner_id) cross join ${bothRecipients}
      where before.incident and not endpoint.incident
    ), attempt as (
      ${writeEnd(attempt, outcome, raw`exists (select from delivery)`)}
    )
    select partner_id from delivery`.execute(sql)
  const [delivery] = rows
  if (delivery === undefined) return { end: 'superseded', notices: [] }
  if (trigger === 'probe') await resumeAfterProbe(sql, delivery.partner_id, attemptId)
  return { end: 'delivered', notices: [] }
}

/** Locks the delivery, then its endpoint, and decides in the statements that follow. */
async function fail(trx: Sql, attempt: EndedAttempt, outcome: AttemptOutcome): Promise<Finished> {
  const { eventId, trigger } = attempt
  const { now, partnerId, ...delivery } = await lockDelivery(trx, attempt)
  const { round, previousAt, ...endpoint } = await lockCalledEndpoint(trx, partnerId, attempt)
  const facts = { ...inRound(delivery, round, now), trigger, previousAt }
  const decision = decideFailure(facts, endpoint, outcome, { now, random: Math.random })
  const { end, delivery: change } = decision
  const next = end === 'failed' ? (change?.nextAttemptAt ?? null) : null
  await writeEnd(attempt, outcome, raw`${delivery.holdsLease}::boolean`).execute(trx)
  if (delivery.holdsLease) {
    const place = change && {
      round,
      failures: change.failures,
      next_attempt_at: change.nextAttemptAt,
      ...(change.isGivenUp && { state: 'given_up' as const, settled_at: now, asked: null }),
    }
    await trx
      .updateTable('deliveries')
      .set({ ...(delivery.state === 'pending' ? noLease : noLeaseNorRequest), ...place })
      .where('event_id', '=', eventId)
      .execute()
  }
  if (decision.endpoint !== null) {
    const { failingSince, transition } = decision.endpoint
    await trx
      .updateTable('endpoints')
      .set({ ...(transition && columnsOf(transition)), failing_since: failingSince })
      .where('partner_id', '=', partnerId)
      .execute()
  }
  for (const { kind } of decision.notices)
    if (kind !== 'given_up') await oweNotice(trx, partnerId, kind, kind === 'failing' ? eventId : null)
  const reason = failureReason(outcome.status, outcome.errorCode)
  const afterMs = (next?.getTime() ?? 0) - now.getTime()
  return {
    end,
    notices: decision.notices,
    ...(change && next && { retry: { failures: change.failures, reason, afterMs } }),
  }
}

/** Without the lease, the endpoint's response is not stored: an erasure clears the lease. */
function writeEnd(
  { attemptId, signed }: EndedAttempt,
  { durationMs, status, errorCode, hint, responseHeaders, responseBody }: AttemptOutcome,
  holdsLease: RawBuilder<boolean>,
) {
  const headers = responseHeaders && JSON.stringify(responseHeaders)
  const ifHeld = (value: RawBuilder<unknown>) => raw`case when ${holdsLease} then ${value} end`
  return raw`
    update attempts set finished_at = clock_timestamp(), signed_at = ${signed.at}, signature = ${signed.signature},
      duration_ms = ${durationMs}, status = ${status}, error_code = ${errorCode}, hint = ${hint},
      response_headers = ${ifHeld(raw`${headers}::jsonb`)}, response_body = ${ifHeld(raw`${responseBody}::text`)}
    where id = ${attemptId}`
}

function lockDelivery(trx: Sql, { eventId, attemptId }: EndedAttempt) {
  return trx
    .selectFrom('deliveries')
    .select(['partner_id as partnerId', 'state', 'round', 'failures', 'next_attempt_at as nextAttemptAt'])
    .select(raw<boolean>`lease is not distinct from ${attemptId}`.as('holdsLease'))
    .select(raw<Date>`clock_timestamp()`.as('now'))
    .where('event_id', '=', eventId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

function lockCalledEndpoint(trx: Sql, partnerId: number, { eventId, attemptId }: EndedAttempt) {
  return trx
    .selectFrom('endpoints')
    .select(['paused_by as pausedBy', 'failing_since as failingSince', 'round'])
    .select(isOfRound(attemptId).as('isCurrent'))
    .select(
      raw<Date | null>`(
        select max(finished_at) from attempts
        where event_id = ${eventId} and trigger = 'scheduled' and id <> ${attemptId}
      )`.as('previousAt'),
    )
    .where('partner_id', '=', partnerId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
}
