import { sql as raw } from 'kysely'
import type { Sql } from '../../src/database/sql.ts'
import { median } from './numbers.ts'

/** What a statement, or a few, cost PostgreSQL. */
export interface Cost {
  ms: number
  /** Pages of 8 KiB that it looked at, and those of them that were not in PostgreSQL's own memory. */
  pages: number
  missed: number
  /** What it had PostgreSQL write to its log. */
  walKiB: number
}

/** For each ten that are measured. */
const WARM_UP = 1

/** Does `work` so often, one after the other, on a connection that nobody else uses meanwhile; the milliseconds are a median. */
export async function costOf(sql: Sql, times: number, work: (n: number) => Promise<unknown>): Promise<Cost> {
  const warmUp = Math.floor((times * WARM_UP) / 10)
  for (let n = 0; n < warmUp; n++) await work(n)
  const before = await counters(sql)
  const took: number[] = []
  for (let n = warmUp; n < warmUp + times; n++) {
    const began = performance.now()
    await work(n)
    took.push(performance.now() - began)
  }
  const after = await counters(sql)
  const each = (key: keyof Counters) => (after[key] - before[key]) / times
  return { ms: median(took), pages: each('fetched'), missed: each('missed'), walKiB: each('wal') / 1024 }
}

interface Counters {
  fetched: number
  missed: number
  wal: number
}

/** Of tables and indexes of the database, without the catalogue. */
async function counters(sql: Sql): Promise<Counters> {
  await raw`select pg_stat_force_next_flush()`.execute(sql)
  const { rows } = await raw<Counters>`
    select sum(pg_stat_get_blocks_fetched(oid))::float8 as fetched,
      sum(pg_stat_get_blocks_fetched(oid) - pg_stat_get_blocks_hit(oid))::float8 as missed,
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal
    from pg_class
    where relnamespace in ('public'::regnamespace, 'pg_toast'::regnamespace) and relkind in ('r', 'i', 't')`.execute(
    sql,
  )
  return rows[0] ?? { fetched: 0, missed: 0, wal: 0 }
}
