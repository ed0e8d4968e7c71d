import { sql as raw } from 'kysely'
import type { Sql } from './orm.ts'

export const SWEEP_LOCK = 7_247_001
export const RECONCILE_LOCK = 7_247_002
export const RETENTION_LOCK = 7_247_004
/** A heartbeat, because a silent connection is dropped, and the lock with it. */
const PULSE_MS = 1000
/** Without heartbeats (a frozen process), PostgreSQL ends the session and frees the lock. */
const IDLE_MS = 10_000

/**
 * Runs `work` unless another process does. Holds an advisory lock on a separate connection: a crash frees it, and it
 * locks no row while `work` calls Temporal.
 *
 * @returns the result of `work`; 0 if another process is running it.
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
    // a lost connection throws when the lock is freed
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
