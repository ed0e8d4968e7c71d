import { sql as raw } from 'kysely'
import type { Sql } from '../../../core/database/orm.ts'

/** Closings that have waited an hour for their email, by partner. */
export async function untoldClosings(sql: Sql) {
  return sql
    .selectFrom('closings')
    .innerJoin('leads', 'leads.id', 'closings.lead_id')
    .select('leads.partner_id')
    .select(raw<number>`count(*)::int`.as('leads'))
    .select((eb) => eb.fn.min('requested_at').as('since'))
    .where('leads.closed_at', 'is', null)
    .where('canceled_at', 'is', null)
    .where('ended_at', 'is', null)
    .where('is_announced', '=', true)
    .where('told_at', 'is', null)
    .where('requested_at', '<', raw<Date>`clock_timestamp() - interval '1 hour'`)
    .groupBy('leads.partner_id')
    .orderBy('since')
    .execute()
}
