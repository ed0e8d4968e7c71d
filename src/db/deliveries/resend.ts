import { sql as raw } from 'kysely'
import type { Sql } from '../orm.ts'

/** A delivery as far as sending it again depends on it; `undefined` when there is none. */
export async function findDelivery(sql: Sql, eventId: string) {
  return sql
    .selectFrom('deliveries')
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .select(['deliveries.lead_id', 'deliveries.partner_id', 'deliveries.sequence', 'deliveries.state'])
    .select(['deliveries.settled_at', 'endpoints.state as endpoint_state'])
    .select(
      raw<number>`(
        select count(*)::int from deliveries earlier
        where earlier.lead_id = deliveries.lead_id
          and earlier.sequence < deliveries.sequence
          and earlier.state = 'pending'
      )`.as('earlier_open'),
    )
    .where('deliveries.event_id', '=', eventId)
    .executeTakeFirst()
}

/** Makes an open delivery due; its place in the schedule stays. */
export async function bringForward(sql: Sql, eventId: string): Promise<void> {
  await sql
    .updateTable('deliveries')
    .set({ next_attempt_at: raw<Date>`clock_timestamp()` })
    .where('event_id', '=', eventId)
    .where('state', '=', 'pending')
    .execute()
}

/** The latest attempt that somebody asked for, but for those that a crash cut off: they are made again. */
export async function latestResend(sql: Sql, eventId: string) {
  return sql
    .selectFrom('attempts')
    .select(['number', 'finished_at', 'error_code'])
    .where('event_id', '=', eventId)
    .where('trigger', '=', 'resend')
    .where('error_code', 'is distinct from', 'interrupted')
    .orderBy('number', 'desc')
    .executeTakeFirst()
}
