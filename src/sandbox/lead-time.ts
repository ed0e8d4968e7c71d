import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { countedOf, isLeased } from '../deliveries/delivery.ts'
import { unknownLead } from '../http/errors.ts'
import type { InHistory } from '../leads/event-payloads.ts'
import { openBorrower, takesNoMore } from '../leads/lead.ts'
import { endOf } from '../leads/score-dates.ts'
import type { ClockStart, Happened, LeadClock } from './lead-clock.ts'
import { type ScenarioName, scenarioOfEmail } from './scenarios.ts'

/**
 * Moves a lead's clock forward by whole seconds, unless it was moved meanwhile. Its webhooks' retries, and its end, stay
 * where they are on the lead's clock: on ours they come sooner. Of nothing else the time changes.
 */
export async function moveClock(
  sql: Sql,
  { leadId, offsetSeconds }: Pick<LeadClock, 'leadId' | 'offsetSeconds'>,
  seconds: number,
): Promise<void> {
  await raw`
    with moved as (
      update leads set clock_offset = clock_offset + ${seconds},
        closed_at = closed_at - ${seconds} * interval '1 second'
      where id = ${leadId} and clock_offset = ${offsetSeconds}
      returning id
    )
    update deliveries set next_attempt_at = greatest(
      next_attempt_at - ${seconds} * interval '1 second', least(next_attempt_at, clock_timestamp())
    )
    from moved where lead_id = moved.id and state = 'pending'`.execute(sql)
}

/** Where a lead's history stands now. */
export async function clockStart(sql: Sql, leadId: number): Promise<ClockStart> {
  return sql
    .selectFrom('leads')
    .select(raw<number>`next_position - 1`.as('position'))
    .select(raw<string>`clock_timestamp()::text`.as('at'))
    .select(takesNoMore.as('isClosed'))
    .where('id', '=', leadId)
    .executeTakeFirstOrThrow()
}

/**
 * A lead's events since then, and its attempts that began since then and have ended, by the lead's time.
 *
 * @param clock where it stood when the attempts were made: they keep our time. One that sent its event at once gets that
 *   event's date.
 * @returns also from where to go on the next time.
 */
export async function happenedSince(
  sql: Sql,
  leadId: number,
  since: ClockStart,
  { offsetSeconds, isClosed, now }: LeadClock,
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
    ...(isClosed && !since.isClosed ? [{ what: 'end' as const, at: now }] : []),
  ]
  return {
    happened: happened.toSorted((one, other) => one.at - other.at),
    since: {
      position: events.at(-1)?.position ?? since.position,
      at: attempts.at(-1)?.exactly ?? since.at,
      isClosed,
    },
  }
}

const counted = countedOf('deliveries', 'endpoints')

/** A lead's clock according to the record, in one statement; `undefined` if there is no such lead, or it is erased. */
export async function readLeadClock(
  sql: Sql,
  leadId: number,
  partnerId?: number,
): Promise<LeadClock | undefined> {
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
    .where('erased_at', 'is', null)
    .$if(partnerId !== undefined, (lead) => lead.where('leads.partner_id', '=', partnerId ?? 0))
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

/** @throws {ApiError} if the partner has no such lead, or it is erased. */
export async function ownClock(sql: Sql, partnerId: number, leadId: number): Promise<LeadClock> {
  const clock = await readLeadClock(sql, leadId, partnerId)
  if (clock === undefined) throw unknownLead()
  return clock
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
