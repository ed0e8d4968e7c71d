import { sql as raw } from 'kysely'
import type { Sql } from '../../src/database/sql.ts'
import { until } from './until.ts'

/**
 * Holds a row lock, so that whoever wants to change the row stands still.
 *
 * @returns `reached`, which resolves once somebody waits for the row, and `release`, which first makes a change, if given.
 */
export async function holdRow(
  sql: Sql,
  table: 'leads' | 'lead_events' | 'deliveries' | 'endpoints' | 'partners' | 'faults',
  where: string,
) {
  const held = Promise.withResolvers<number>()
  const released = Promise.withResolvers<(trx: Sql) => Promise<unknown>>()
  const holding = sql.transaction().execute(async (trx) => {
    await raw`select 1 from ${raw.table(table)} where ${raw.raw(where)} for update`.execute(trx)
    const { rows } = await raw<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
    held.resolve(rows[0]?.pid ?? 0)
    const change = await released.promise
    await change(trx)
  })
  const pid = await held.promise
  const waiters = raw<{
    pid: number
  }>`select pid from pg_stat_activity where ${pid} = any(pg_blocking_pids(pid))`
  return {
    reached: () => until(async () => (await waiters.execute(sql)).rows.length > 0),
    async release(change: (trx: Sql) => Promise<unknown> = async () => {}) {
      released.resolve(change)
      await holding
    },
  }
}

/** How many sessions of this database wait for a lock. */
export async function sessionsThatWait(sql: Sql): Promise<number | undefined> {
  const { rows } = await raw<{ count: number }>`select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(sql)
  return rows[0]?.count
}
