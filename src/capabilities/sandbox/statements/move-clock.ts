import { sql as raw } from 'kysely'
import type { ClockStart, Happened } from '../decisions/lead-clock.ts'
import type { InHistory } from '../../../core/leads/decisions/closed-event.ts'
import type { Sql } from '../../../core/database/sql.ts'

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
 *   once gets that event's date. If absent, the clock has moved between them, and all others are left out.
 * @returns also from where to go on the next time.
 */
export async function happenedSince(
  sql: Sql,
  leadId: number,
  since: ClockStart,
  offsetSeconds?: number,
): Promise<{ happened: Happened[]; since: ClockStart }> {
  const events = await eventsSince(sql, leadId, since.position)
  const attempts = await attemptsSince(sql, leadId, since.at)
  const createdAt = new Map(events.map(({ eventId, at }) => [eventId, at]))
  const happened: Happened[] = [
    ...events.map(({ position: _, ...event }) => ({ what: 'event' as const, ...event })),
    ...attempts.flatMap(({ startedAt, startedAtExactly: _, ...attempt }) => {
      const atOnce = attempt.attempt === 1 ? createdAt.get(attempt.eventId) : undefined
      const moved = offsetSeconds === undefined ? undefined : startedAt.getTime() + offsetSeconds * 1000
      const at = atOnce ?? moved
      return at === undefined ? [] : { what: 'webhook' as const, at, ...attempt }
    }),
  ]
  return {
    happened: happened.toSorted((one, other) => one.at - other.at),
    since: {
      position: events.at(-1)?.position ?? since.position,
      at: attempts.at(-1)?.startedAtExactly ?? since.at,
    },
  }
}

async function eventsSince(sql: Sql, leadId: number, position: number) {
  const rows = await sql
    .selectFrom('lead_events')
    .leftJoin('deliveries', 'deliveries.event_id', 'lead_events.id')
    .select(['lead_events.id as eventId', 'event_name as eventName', 'created_at', 'sequence', 'position'])
    .where('lead_events.lead_id', '=', leadId)
    .where('position', '>', position)
    .$narrowType<{ eventName: InHistory['event_name']; position: number }>()
    .orderBy('position')
    .execute()
  return rows.map(({ created_at: createdAt, ...event }) => ({ at: createdAt.getTime(), ...event }))
}

function attemptsSince(sql: Sql, leadId: number, startedAfter: string) {
  return sql
    .selectFrom('attempts')
    .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
    .innerJoin('lead_events', 'lead_events.id', 'attempts.event_id')
    .select(['attempts.event_id as eventId', 'event_name as eventName', 'sequence', 'number as attempt'])
    .select(['attempts.status', 'error_code as errorCode', 'started_at as startedAt'])
    .select(raw<string>`started_at::text`.as('startedAtExactly'))
    .where('deliveries.lead_id', '=', leadId)
    .$narrowType<{ eventName: InHistory['event_name'] }>()
    .where('started_at', '>', raw<Date>`${startedAfter}::timestamptz`)
    .where('finished_at', 'is not', null)
    .orderBy('started_at')
    .execute()
}
