import { sql as raw } from 'kysely'
import { waitsFor } from './first-open.ts'
import type { Sql } from '../../database/sql.ts'

/** What a resend needs to know of a delivery; `undefined` if there is none, or its lead is erased. */
export async function findDelivery(sql: Sql, eventId: string) {
  return sql
    .selectFrom('deliveries')
    .innerJoin('leads', 'leads.id', 'deliveries.lead_id')
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .select(['deliveries.event_id', 'deliveries.lead_id', 'deliveries.partner_id', 'deliveries.sequence'])
    .select('deliveries.state')
    .select(['deliveries.settled_at', 'endpoints.state as endpoint_state'])
    .select(waitsFor.as('waits_for'))
    .select((eb) =>
      eb
        .selectFrom('lead_events')
        .select('event_name')
        .whereRef('id', '=', 'deliveries.event_id')
        .as('event_name'),
    )
    .select((eb) =>
      eb
        .selectFrom('attempts')
        .select('number')
        .whereRef('attempts.event_id', '=', 'deliveries.event_id')
        .orderBy('number', 'desc')
        .limit(1)
        .as('attempts'),
    )
    .where('deliveries.event_id', '=', eventId)
    .where('leads.erased_at', 'is', null)
    .executeTakeFirst()
}

/**
 * Asks for an attempt at an open delivery now, beside its schedule: see `decideAttempt`.
 */
export async function requestAttempt(sql: Sql, leadId: number, sequence: number): Promise<void> {
  await sql
    .updateTable('deliveries')
    .set({ resend_requested_at: raw<Date>`coalesce(resend_requested_at, clock_timestamp())` })
    .where('lead_id', '=', leadId)
    .where('sequence', '=', sequence)
    .where('state', '=', 'pending')
    .execute()
}

/** Whether it is an event of the partner that is not sent as a webhook. */
export async function isUnsent(sql: Sql, partnerId: number, eventId: string): Promise<boolean> {
  const row = await sql
    .selectFrom('lead_events')
    .leftJoin('deliveries', 'deliveries.event_id', 'lead_events.id')
    .select('lead_events.id')
    .where('lead_events.id', '=', eventId)
    .where('lead_events.partner_id', '=', partnerId)
    .where('deliveries.event_id', 'is', null)
    .executeTakeFirst()
  return row !== undefined
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
