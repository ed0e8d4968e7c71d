import { type RawBuilder, sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { countedOf, isLeased } from '../deliveries/delivery.ts'
import { unknownLead } from '../http/errors.ts'
import type { InHistory } from '../leads/event-payloads.ts'
import { lastPeriod } from '../leads/lead-event.ts'
import { openBorrower, ownsLead } from '../leads/lead.ts'
import { LATE_FACTS_MS } from '../leads/score-dates.ts'
import { formatTimestamp } from '../values.ts'
import type { Happened } from './advance-clock.ts'
import type { ClockMark, LeadClock } from './lead-clock.ts'
import { type ScenarioName, scenarioOfEmail } from './scenarios.ts'

const counted = countedOf('d', 'e')
/** A moment in milliseconds. */
const ms = (at: RawBuilder<unknown>) => raw`floor(extract(epoch from ${at}) * 1000)::float8`
const ahead = raw`clock_offset * interval '1 second'`
const readyAt = raw`(
  select created_at from lead_events where lead_id = leads.id and dedupe_key = 'mortgage_ready'
)`

/** A lead's clock according to the record, in one statement; `undefined` if there is no such lead, or it is erased. */
export async function readClock(sql: Sql, leadId: number): Promise<LeadClock | undefined> {
  const { rows } = await raw<LeadClock>`
    select id as "leadId", status, clock_offset * 1000::float8 as offset, closed_at is not null as "isClosed",
      ${ms(raw`clock_timestamp() + ${ahead}`)} as now, ${ms(raw`anchor_at`)} as anchor,
      ${ms(readyAt)} + ${raw.lit(LATE_FACTS_MS)} as "endsAt",
      (select coalesce(${lastPeriod}, 0) + 1 from lead_events where lead_id = leads.id) as period, open,
      json_build_object('at', clock_timestamp()::text, 'position', next_position - 1,
        'isClosed', closed_at is not null) as mark
    from leads left join lateral (
      select e.state, json_build_object('failures', ${counted.failures},
        'nextAttemptAt', case when not ${isLeased} then ${ms(raw`${counted.nextAttemptAt} + ${ahead}`)} end) as open
      from deliveries d join endpoints e on e.partner_id = d.partner_id
      where d.lead_id = leads.id and d.state = 'pending' order by sequence limit 1
    ) first on first.state <> 'paused'
    where id = ${leadId} and erased_at is null`.execute(sql)
  return rows[0]
}

/** @throws {ApiError} if the partner has no such lead, or it is erased. */
export async function ownClock(sql: Sql, partnerId: number, leadId: number): Promise<LeadClock> {
  const clock = (await ownsLead(sql, partnerId, leadId)) ? await readClock(sql, leadId) : undefined
  if (clock === undefined) throw unknownLead()
  return clock
}

/**
 * Moves a lead's clock forward by whole seconds, unless it was moved meanwhile. Its webhooks' retries, and its end, stay
 * where they are on the lead's clock: on ours they come sooner. Of nothing else the time changes.
 */
export async function moveClock(sql: Sql, { leadId, offset }: LeadClock, seconds: number): Promise<void> {
  await raw`
    with moved as (
      update leads set clock_offset = clock_offset + ${seconds},
        closed_at = closed_at - ${seconds} * interval '1 second'
      where id = ${leadId} and clock_offset = ${offset / 1000}
      returning id
    )
    update deliveries set next_attempt_at = greatest(
      next_attempt_at - ${seconds} * interval '1 second', least(next_attempt_at, clock_timestamp())
    )
    from moved where lead_id = moved.id and state = 'pending'`.execute(sql)
}

/**
 * A lead's events since then, and its attempts that began since then and have ended, by the lead's time.
 *
 * @param clock where it stood when the attempts were made: they keep our time. One that sent its event at once gets that
 *   event's date.
 */
export async function happenedSince(
  sql: Sql,
  { leadId, offset, now, mark }: LeadClock,
  since: ClockMark,
): Promise<Happened[]> {
  const events = await sql
    .selectFrom('lead_events')
    .leftJoin('deliveries', 'deliveries.event_id', 'lead_events.id')
    .select(['lead_events.id as event_id', 'event_name', 'created_at as at', 'sequence'])
    .where('lead_events.lead_id', '=', leadId)
    .where('position', '>', since.position)
    .where('position', '<=', mark.position)
    .$narrowType<Pick<InHistory, 'event_name'>>()
    .orderBy('position')
    .execute()
  const attempts = await sql
    .selectFrom('attempts')
    .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
    .innerJoin('lead_events', 'lead_events.id', 'attempts.event_id')
    .select(['attempts.event_id', 'event_name', 'sequence', 'number as attempt', 'attempts.status'])
    .select(['error_code', raw<Date>`started_at + ${offset} * interval '1 millisecond'`.as('at')])
    .where('deliveries.lead_id', '=', leadId)
    .where('started_at', '>', raw<Date>`${since.at}::timestamptz`)
    .where('started_at', '<=', raw<Date>`${mark.at}::timestamptz`)
    .where('finished_at', 'is not', null)
    .orderBy('started_at')
    .execute()
  const dates = new Map(events.map(({ event_id: id, at }) => [id, at]))
  const happened = [
    ...events.map((event) => ({ what: 'event' as const, ...event })),
    ...attempts.map((attempt) => {
      const atOnce = attempt.attempt === 1 ? dates.get(attempt.event_id) : undefined
      return { what: 'webhook' as const, ...attempt, at: atOnce ?? attempt.at }
    }),
    ...(mark.isClosed && !since.isClosed ? [{ what: 'end' as const, at: new Date(now) }] : []),
  ]
  return happened
    .toSorted((one, other) => one.at.getTime() - other.at.getTime())
    .map((each) => ({ ...each, at: formatTimestamp(each.at) }))
}

/** The scenario that a lead's address names; `undefined` for none, or once the lead is erased. */
export async function scenarioOfLead(
  sql: Sql,
  leadId: number,
  encryptionKeys: readonly Buffer[],
): Promise<ScenarioName | undefined> {
  const lead = sql.selectFrom('leads').select('personal').where('id', '=', leadId)
  const sealed = (await lead.executeTakeFirst())?.personal
  return sealed ? scenarioOfEmail(openBorrower(leadId, sealed, encryptionKeys).email) : undefined
}
