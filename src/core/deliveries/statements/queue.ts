import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'

/** How far a lead's deliveries are in the record. */
export interface DeliveryQueue {
  /** The lead's first open delivery; `last + 1` when none is open. */
  next: number
  last: number
}

/** The whole queue: what is between them is sent in order, and a sequence that was left out takes no time. */
export async function deliveryQueue(sql: Sql, leadId: number): Promise<DeliveryQueue> {
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
