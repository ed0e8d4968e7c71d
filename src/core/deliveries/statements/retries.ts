import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'

/** Whether webhooks of a partner failed and wait for their next attempt. */
export async function hasRetries(sql: Sql, partnerId: number): Promise<boolean> {
  const found = await sql
    .selectFrom('deliveries')
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .select('event_id')
    .where('deliveries.partner_id', '=', partnerId)
    .where('deliveries.state', '=', 'pending')
    .whereRef('deliveries.round', '=', 'endpoints.round')
    .where('next_attempt_at', '>', raw<Date>`clock_timestamp()`)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
