import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'
import { noLease } from './lease.ts'

const PAGE = 1000

/** What is written when an open delivery is canceled. */
export const canceled = {
  state: 'canceled' as const,
  settled_at: raw<Date>`clock_timestamp()`,
  ...noLease,
}

/**
 * Cancels a partner's open deliveries, each page in its own transaction. Skips locked rows, and may miss new ones:
 * `cancelRest` cancels those.
 *
 * @returns how many, and when it began, by PostgreSQL's clock.
 */
export async function cancelPages(sql: Sql, partnerId: number): Promise<{ canceled: number; began: Date }> {
  const { began } = await sql.selectNoFrom(raw<Date>`clock_timestamp()`.as('began')).executeTakeFirstOrThrow()
  let total = 0
  for (let count = PAGE; count === PAGE; total += count) {
    const { numUpdatedRows } = await sql
      .with('page', (cte) =>
        cte
          .selectFrom('deliveries')
          .select('event_id')
          .where('partner_id', '=', partnerId)
          .where('state', '=', 'pending')
          .limit(PAGE)
          .forUpdate()
          .skipLocked(),
      )
      .updateTable('deliveries')
      .from('page')
      .set(canceled)
      .whereRef('deliveries.event_id', '=', 'page.event_id')
      .executeTakeFirstOrThrow()
    count = Number(numUpdatedRows)
  }
  return { canceled: total, began }
}

export async function cancelRest(trx: Sql, partnerId: number): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('deliveries')
    .set(canceled)
    .where('partner_id', '=', partnerId)
    .where('state', '=', 'pending')
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}
