import { sql as raw } from 'kysely'
import type { Sql } from '../orm.ts'

/** What a resend needs to know of a delivery; `undefined` if there is none. */
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

/** Makes an open delivery due now, at its place in the schedule. */
export async function bringForward(sql: Sql, eventId: string): Promise<void> {
  await sql
    .updateTable('deliveries')
    .set({ next_attempt_at: raw<Date>`clock_timestamp()` })
    .where('event_id', '=', eventId)
    .where('state', '=', 'pending')
    .execute()
}

/** The latest resend, except interrupted ones: they are made again. */
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
