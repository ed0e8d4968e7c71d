import { sql as raw } from 'kysely'
import { type Lock, tryLock } from './locks.ts'
import type { Sql } from '../orm.ts'

/** A heartbeat, because a silent connection is dropped, and the lock with it. */
const PULSE_MS = 1000
/** Without heartbeats (a frozen process), PostgreSQL ends the session and frees the lock. */
const IDLE_MS = 10_000

/**
 * Runs `work` unless another process holds `lock`. The lock is held by a transaction on a connection of its own, which
 * does nothing else: a crash frees it, and it locks no row while `work` calls Temporal.
 *
 * @returns the result of `work`; 0 if another process is running it.
 */
export async function alone(sql: Sql, lock: Lock, work: () => Promise<number>): Promise<number> {
  return (
    sql
      .transaction()
      // the default of a login may keep a snapshot, which would keep vacuum from removing anything
      .setIsolationLevel('read committed')
      .execute(async (trx) => {
        if (!(await tryLock(trx, lock))) return 0
        await raw`set local idle_in_transaction_session_timeout = ${raw.lit(IDLE_MS)}`.execute(trx)
        // a lost connection throws at the end
        const pulse = setInterval(() => void raw`select 1`.execute(trx).catch(() => {}), PULSE_MS)
        try {
          return await work()
        } finally {
          clearInterval(pulse)
        }
      })
  )
}
