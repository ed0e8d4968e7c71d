import { sql as raw } from 'kysely'
import type { Sql } from '../orm.ts'

/** A lead's first open delivery and its highest sequence: the whole queue, because sequences have no gaps. */
export async function deliveryQueue(sql: Sql, leadId: number): Promise<{ next: number; last: number }> {
  const row = await sql
    .selectFrom('leads')
    .select((eb) => [
      raw<number>`next_sequence - 1`.as('last'),
      eb
        .selectFrom('deliveries')
        .select((open) => open.fn.min('sequence').as('next'))
        .where('lead_id', '=', leadId)
        .where('state', '=', 'pending')
        .as('next'),
    ])
    .where('id', '=', leadId)
    .executeTakeFirst()
  const last = row?.last ?? 0
  return { next: row?.next ?? last + 1, last }
}
