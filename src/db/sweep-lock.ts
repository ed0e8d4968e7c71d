import { sql as raw } from 'kysely'
import type { Sql } from './orm.ts'

export const SWEEP_LOCK = 7_247_001
export const RECONCILE_LOCK = 7_247_002
/** A sign of life on the lock's connection, which would otherwise be dropped as silent, and the lock with it. */
const PULSE_MS = 1000
/** A process that is frozen gives none, and PostgreSQL frees its lock for another. */
const IDLE_MS = 10_000

/**
 * Runs `work` unless another process does: under an advisory lock of a connection's own, which a crash frees
 * and which holds no row while `work` calls Temporal.
 *
 * @returns what `work` answers; 0 when another process is at it.
 */
export async function sweepAlone(
  sql: Sql,
  work: () => Promise<number>,
  lockId: number = SWEEP_LOCK,
): Promise<number> {
  return sql.connection().execute(async (connection) => {
    const lock = raw<{ locked: boolean }>`select pg_try_advisory_lock(${lockId}) as locked`
    const { rows } = await lock.execute(connection)
    if (rows[0]?.locked !== true) return 0
    await raw`set idle_session_timeout = ${raw.lit(IDLE_MS)}`.execute(connection)
    // a lost connection shows when the lock is to be freed
    const pulse = setInterval(() => void raw`select 1`.execute(connection).catch(() => {}), PULSE_MS)
    try {
      return await work()
    } finally {
      clearInterval(pulse)
      await raw`select pg_advisory_unlock(${lockId})`.execute(connection)
      await raw`reset idle_session_timeout`.execute(connection)
    }
  })
}
