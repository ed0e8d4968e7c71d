import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { countedOf, isLeased } from '../deliveries/delivery.ts'
import type { InHistory } from '../leads/event-payloads.ts'
import { leadsNow, takesNoMore } from '../leads/lead.ts'
import { endOf } from '../leads/score-dates.ts'
import { openBorrower } from '../leads/sealed-lead.ts'
import { type ClockStart, type Due, dueDates, type Happened, type LeadClock } from './lead-clock.ts'
import { type ScenarioName, scenarioOfEmail } from './scenarios.ts'

/**
 * Moves a lead's clock forward to a moment of its time, in milliseconds, rounded up to a whole second. Its webhooks'
 * retries, and its end, stay where they are on the lead's clock: on ours they come sooner. Of nothing else the time changes.
 *
 * @returns by how many seconds the clock is ahead now; `undefined` if there is no such lead.
 */
export async function moveClock(sql: Sql, leadId: number, to: number): Promise<number | undefined> {
  return sql.transaction().execute(async (trx) => {
    const { rows } = await raw<{ seconds: number; offset: number }>`
      select ceil(${to / 1000}::float8 - extract(epoch from clock_timestamp()) - clock_offset)::int as seconds,
        clock_offset as "offset"
      from leads where id = ${leadId} for update`.execute(trx)
    const seconds = rows[0]?.seconds ?? 0
    const before = rows[0]?.offset
    if (before === undefined || seconds <= 0) return before
    await trx
      .with('moved', (cte) =>
        cte
          .updateTable('leads')
          .set((eb) => ({
            clock_offset: eb('clock_offset', '+', seconds),
            closed_at: raw<Date | null>`closed_at - ${seconds} * interval '1 second'`,
          }))
          .where('id', '=', leadId),
      )
      .updateTable('deliveries')
      .set({
        next_attempt_at: raw<Date>`greatest(
          next_attempt_at - ${seconds} * interval '1 second', least(next_attempt_at, clock_timestamp())
        )`,
      })
      .where('lead_id', '=', leadId)
      .where('state', '=', 'pending')
      .execute()
    return before + seconds
  })
}

/** Where a lead's history stands now. */
export async function clockStart(sql: Sql, leadId: number): Promise<ClockStart> {
  return sql
    .selectFrom('leads')
    .select(raw<number>`next_position - 1`.as('position'))
    .select(raw<string>`clock_timestamp()::text`.as('at'))
    .where('id', '=', leadId)
    .executeTakeFirstOrThrow()
}

/**
 * A lead's events since then, and its attempts that began since then and have ended, by the lead's time.
 *
 * @param offsetSeconds the lead's offset when the attempts were made: they keep our time. One that sent its event at
 *   once gets that event's date.
 * @returns also from where to go on the next time.
 */
export async function happenedSince(
  sql: Sql,
  leadId: number,
  since: ClockStart,
  offsetSeconds: number,
): Promise<{ happened: Happened[]; since: ClockStart }> {
  const events = await sql
    .selectFrom('lead_events')
    .leftJoin('deliveries', 'deliveries.event_id', 'lead_events.id')
    .select(['lead_events.id as eventId', 'event_name as eventName', 'created_at', 'sequence', 'position'])
    .where('lead_events.lead_id', '=', leadId)
    .where('position', '>', since.position)
    .$narrowType<{ eventName: InHistory['event_name']; position: number }>()
    .orderBy('position')
    .execute()
  const attempts = await sql
    .selectFrom('attempts')
    .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
    .innerJoin('lead_events', 'lead_events.id', 'attempts.event_id')
    .select(['attempts.event_id as eventId', 'event_name as eventName', 'sequence', 'number as attempt'])
    .select(['attempts.status', 'error_code as errorCode', 'started_at'])
    .select(raw<string>`started_at::text`.as('exactly'))
    .where('deliveries.lead_id', '=', leadId)
    .$narrowType<{ eventName: InHistory['event_name'] }>()
    .where('started_at', '>', raw<Date>`${since.at}::timestamptz`)
    .where('finished_at', 'is not', null)
    .orderBy('started_at')
    .execute()
  const createdAt = new Map(events.map((event) => [event.eventId, event.created_at.getTime()]))
  const happened = [
    ...events.map(({ position: _, created_at: at, ...event }): Happened => ({
      what: 'event',
      at: at.getTime(),
      ...event,
    })),
    ...attempts.map(({ started_at: startedAt, exactly: _, ...attempt }): Happened => {
      const atOnce = attempt.attempt === 1 ? createdAt.get(attempt.eventId) : undefined
      return { what: 'webhook', at: atOnce ?? startedAt.getTime() + offsetSeconds * 1000, ...attempt }
    }),
  ]
  return {
    happened: happened.toSorted((one, other) => one.at - other.at),
    since: {
      position: events.at(-1)?.position ?? since.position,
      at: attempts.at(-1)?.exactly ?? since.at,
    },
  }
}

const counted = countedOf('deliveries', 'endpoints')

/** A lead's clock according to the record, in one statement; `undefined` if there is no such lead. */
export async function readLeadClock(sql: Sql, leadId: number): Promise<LeadClock | undefined> {
  const row = await sql
    .selectFrom('leads')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('deliveries')
          .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
          .select([counted.failures.as('failures'), counted.nextAttemptAt.as('next_attempt_at')])
          .select(['endpoints.state as endpoint_state', isLeased.as('is_leased')])
          .whereRef('deliveries.lead_id', '=', 'leads.id')
          .where('deliveries.state', '=', 'pending')
          .orderBy('sequence')
          .limit(1)
          .as('open'),
      (join) => join.onTrue(),
    )
    .select(['status', 'clock_offset', 'anchor_at', 'failures', 'next_attempt_at', 'endpoint_state'])
    .select(['is_leased', takesNoMore.as('is_closed')])
    .select(raw<Date>`clock_timestamp()`.as('now'))
    .select(
      raw<number>`(
      select coalesce(max(score_period), 0) from lead_events where lead_id = leads.id)`.as('last_period'),
    )
    .select(
      raw<Date | null>`(
      select created_at from lead_events
      where lead_id = leads.id and dedupe_key = 'mortgage_ready')`.as('ready_at'),
    )
    .where('leads.id', '=', leadId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { next_attempt_at: nextAttemptAt, clock_offset: offsetSeconds } = row
  const ahead = offsetSeconds * 1000
  return {
    leadId,
    status: row.status,
    now: row.now.getTime() + ahead,
    offsetSeconds,
    isClosed: row.is_closed,
    anchor: row.anchor_at?.getTime() ?? null,
    lastPeriod: row.last_period,
    endsAt: endOf(row.ready_at),
    open:
      nextAttemptAt === null || row.endpoint_state === 'paused'
        ? null
        : {
            failures: row.failures ?? 0,
            nextAttemptAt: nextAttemptAt.getTime() + ahead,
            isLeased: row.is_leased ?? false,
          },
  }
}

/** What is due next on a lead's clock, and when; `undefined` for nothing. */
export const nextDue = (clock: LeadClock): Due | undefined => dueDates(clock)[0]

/**
 * How long a lead's first open webhook had failed on the lead's clock, in milliseconds, when its latest attempt was made:
 * what production's clock would say of its endpoint, if that accepted nothing since. The waits between the attempts say it,
 * because attempts and the endpoint keep our time. It cannot be longer than the event is old.
 *
 * @returns 0 if nothing is open, it has not failed, or the endpoint accepted something since.
 */
export async function failingForMs(sql: Sql, leadId: number): Promise<number> {
  const { rows } = await raw<{ ms: number | null }>`
    select (1000 * extract(epoch from least(
      coalesce(
        sum(attempts.next_attempt_at - attempts.finished_at) filter (where attempts.number < latest.number),
        interval '0'
      ),
      max(${leadsNow} - lead_events.created_at)
    )))::float8 as ms
    from leads
    join lateral (
      select event_id from deliveries
      where lead_id = leads.id and state = 'pending' order by sequence limit 1
    ) open on true
    join lead_events on lead_events.id = open.event_id
    join endpoints on endpoints.partner_id = leads.partner_id
    join attempts on attempts.event_id = open.event_id
      and attempts.trigger = 'scheduled' and attempts.finished_at >= endpoints.failing_since
    cross join lateral (
      select max(number) as number from attempts last
      where last.event_id = open.event_id and last.trigger = 'scheduled'
    ) latest
    where leads.id = ${leadId}`.execute(sql)
  return rows[0]?.ms ?? 0
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
