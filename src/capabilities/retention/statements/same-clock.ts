import { sql as raw } from 'kysely'
import type { Sql } from '../../../core/database/sql.ts'
import { RetentionHeld } from '../../../core/database/retained.ts'
import { MINUTE_MS } from '../../../core/values/durations.ts'

/** Clocks of servers that are kept right differ by less than a second. */
const MOST_APART_MS = 5 * MINUTE_MS

/**
 * What is old is decided by PostgreSQL's clock, so one that jumps would make everything old.
 *
 * @param now the clock of this process, in milliseconds since the epoch.
 * @throws {RetentionHeld} if it and PostgreSQL's are minutes apart.
 */
export async function requireSameClock(sql: Sql, now: () => number): Promise<void> {
  const { rows } = await raw<{ ms: number }>`
    select (1000 * extract(epoch from clock_timestamp()))::float8 as ms`.execute(sql)
  const ahead = (rows[0]?.ms ?? Number.NaN) - now()
  if (Math.abs(ahead) <= MOST_APART_MS) return
  const minutes = Math.round(Math.abs(ahead) / MINUTE_MS)
  throw new RetentionHeld(
    `PostgreSQL’s clock is ${minutes} minutes ${ahead > 0 ? 'ahead of' : 'behind'} this machine’s, so nothing is removed: correct the clock that is wrong`,
  )
}
