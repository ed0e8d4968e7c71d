import { sql as raw } from 'kysely'
import type { Sql } from './sql.ts'

/** How far this process's clock is ahead of PostgreSQL's, in seconds; exact to half of the way there and back. */
export async function clockAheadSeconds(sql: Sql): Promise<number> {
  const before = Date.now()
  const { rows } = await raw<{ now: Date }>`select clock_timestamp() as now`.execute(sql)
  const between = (before + Date.now()) / 2
  const [row] = rows
  if (row === undefined) throw new Error('a clock has no row')
  return (between - row.now.getTime()) / 1000
}
