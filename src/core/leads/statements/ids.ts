import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'

/** A new lead's id, and PostgreSQL's time. */
export interface ReservedLeadId {
  leadId: number
  createdAt: Date
}

const LARGEST_BLOCK = 64
/** A block lasts this long. If it is used up sooner, the next one is larger. */
const BLOCK_MS = 1000

/**
 * Hands out lead ids from the identity's sequence, and PostgreSQL's clock with them: a lead, its event, and
 * its delivery, whose body names the id, are then written by one statement instead of four.
 *
 * One id at a time while leads are rare, blocks under load. The rest of a block is dropped after a second, because
 * PostgreSQL's clock may have been set since; that leaves a gap in the ids.
 *
 * @param monotonicMs a monotonic clock, in milliseconds.
 */
export function leadIds(sql: Sql, monotonicMs = () => performance.now()): () => Promise<ReservedLeadId> {
  let ids: number[] = []
  let now = new Date(0)
  let size = 1
  let takenAt = Number.NEGATIVE_INFINITY
  let refill: Promise<void> | undefined

  const ageMs = () => monotonicMs() - takenAt

  async function takeBlock(): Promise<void> {
    size = ageMs() < BLOCK_MS ? Math.min(size * 2, LARGEST_BLOCK) : 1
    ;({ ids, now } = await take(sql, size))
    takenAt = monotonicMs()
  }

  return async () => {
    for (;;) {
      const leadId = ageMs() < BLOCK_MS ? ids.shift() : undefined
      if (leadId !== undefined) {
        const createdAt = new Date(now.getTime() + ageMs())
        return { leadId, createdAt }
      }
      refill ??= takeBlock().finally(() => (refill = undefined))
      await refill
    }
  }
}

async function take(sql: Sql, size: number): Promise<{ ids: number[]; now: Date }> {
  const { rows } = await raw<{ id: number; now: Date }>`
    select nextval(pg_get_serial_sequence('leads', 'id'))::int as id, clock_timestamp() as now
    from generate_series(1, ${size}::int)`.execute(sql)
  const { now = new Date() } = rows[0] ?? {}
  return { ids: rows.map(({ id }) => id), now }
}
