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

/**
 * Asks for an attempt at an open delivery now, beside its schedule: see `decideAttempt`. Answers whether it is still open.
 */
export async function requestAttempt(sql: Sql, eventId: string): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable('deliveries')
    .set({ resend_requested_at: raw<Date>`coalesce(resend_requested_at, clock_timestamp())` })
    .where('event_id', '=', eventId)
    .where('state', '=', 'pending')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
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
