import { type RawBuilder, sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { isLeased } from '../deliveries/delivery.ts'
import { scheduleInRound } from '../endpoints/open-deliveries.ts'
import { unknownLead } from '../http/errors.ts'
import { lastPeriod, leadClosedAt, openBorrower } from '../leads/lead.ts'
import { LATE_FACTS_MS } from '../leads/score-dates.ts'
import type { LeadClock } from './lead-clock.ts'
import { type ScenarioName, scenarioOfEmail } from './scenarios.ts'

const counted = scheduleInRound('d', 'e')
/** A moment in milliseconds. */
const ms = (at: RawBuilder<unknown>) => raw`floor(extract(epoch from ${at}) * 1000)::float8`
const ahead = raw`clock_offset * interval '1 second'`
const readyAt = raw`(
  select created_at from lead_events where lead_id = leads.id and dedupe_key = 'mortgage_ready'
)`

/** A lead's clock according to the record, in one statement; `undefined` if there is no such lead, or it is erased. */
export async function readClock(sql: Sql, leadId: number): Promise<LeadClock | undefined> {
  const { rows } = await raw<LeadClock>`
    select id as "leadId", status, clock_offset * 1000::float8 as offset, ${ms(leadClosedAt)} as "closedAt",
      ${ms(raw`clock_timestamp() + ${ahead}`)} as now, ${ms(raw`anchor_at`)} as anchor,
      ${ms(readyAt)} + ${raw.lit(LATE_FACTS_MS)} as "endsAt",
      (select coalesce(${lastPeriod}, 0) + 1 from lead_events where lead_id = leads.id) as period, open,
      next_position - 1 as position
    from leads left join lateral (
      select e.state, json_build_object('failures', ${counted.failures},
        'nextAttemptAt', case when not ${isLeased} then ${ms(raw`${counted.nextAttemptAt} + ${ahead}`)} end) as open
      from deliveries d join endpoints e on e.partner_id = d.partner_id
      where d.lead_id = leads.id and d.state = 'pending' order by sequence limit 1
    ) first on first.state <> 'paused'
    where id = ${leadId} and erased_at is null`.execute(sql)
  return rows[0]
}

/** @throws {ApiError} if the lead has been erased meanwhile. */
export async function clockOf(sql: Sql, leadId: number): Promise<LeadClock> {
  const clock = await readClock(sql, leadId)
  if (clock === undefined) throw unknownLead()
  return clock
}

/**
 * Moves a lead's clock forward by whole seconds, unless it was moved meanwhile. Its webhooks' retries and its end keep their
 * dates on the lead's clock, so in real time they come sooner. No other date changes.
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
