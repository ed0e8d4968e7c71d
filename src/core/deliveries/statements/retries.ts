import { sql as raw } from 'kysely'
import type { Sql } from '../../database/orm.ts'

/** Whether webhooks of a partner failed and wait for their next attempt. */
export async function hasRetries(sql: Sql, partnerId: number): Promise<boolean> {
  const found = await sql
    .selectFrom('deliveries')
    .select('event_id')
    .where('partner_id', '=', partnerId)
    .where('state', '=', 'pending')
    .where('failures', '>', 0)
    .where('next_attempt_at', '>', raw<Date>`clock_timestamp()`)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
