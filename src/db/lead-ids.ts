import { sql as raw } from 'kysely'
import type { Sql } from './orm.ts'

/** What a lead's first rows need to know before they are written: its number, and PostgreSQL's time. */
export interface Place {
  leadId: number
  createdAt: Date
}

const LARGEST_BLOCK = 64
/** Blocks that are used up faster than this grow. */
const SHORT_MS = 1000

/**
 * Hands out lead ids from the identity's sequence, and PostgreSQL's clock with them: a lead, its event, and
 * its delivery, whose body names the id, are then written by one statement instead of four.
 *
 * One id at a time while leads are rare, blocks under load; what a process has left of one when it ends is a
 * gap in the ids.
 */
export function leadPlaces(sql: Sql): () => Promise<Place> {
  let ids: number[] = []
  let aheadMs = 0
  let size = 1
  let takenAt = Number.NEGATIVE_INFINITY
  let refill: Promise<void> | undefined

  async function takeBlock(): Promise<void> {
    const now = performance.now()
    size = now - takenAt < SHORT_MS ? Math.min(size * 2, LARGEST_BLOCK) : 1
    takenAt = now
    const block = await take(sql, size)
    ids = block.ids
    aheadMs = block.now.getTime() - Date.now()
  }

  return async () => {
    for (;;) {
      const leadId = ids.shift()
      if (leadId !== undefined) return { leadId, createdAt: new Date(Date.now() + aheadMs) }
      refill ??= takeBlock().finally(() => (refill = undefined))
      await refill
    }
  }
}

/** For who inserts a single lead, in a transaction for example. */
export async function nextPlace(sql: Sql): Promise<Place> {
  const { ids, now } = await take(sql, 1)
  return { leadId: ids[0] ?? 0, createdAt: now }
}

async function take(sql: Sql, size: number): Promise<{ ids: number[]; now: Date }> {
  const { rows } = await raw<{ id: number; now: Date }>`
    select nextval(pg_get_serial_sequence('leads', 'id'))::int as id, clock_timestamp() as now
    from generate_series(1, ${size}::int)`.execute(sql)
  return { ids: rows.map(({ id }) => id), now: rows[0]?.now ?? new Date() }
}
