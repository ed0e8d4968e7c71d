import { sql as raw } from 'kysely'
import type { Sql } from '../../src/core/database/orm.ts'

/** Makes the month of a time that is long gone, as the owner; a month that is there stays. */
export async function makePastMonth(ownerSql: Sql, at: Date): Promise<void> {
  const month = at.toISOString().slice(0, 7)
  const name = raw.table(`personal_reads_${month.replace('-', '_')}`)
  const first = `${month}-01T00:00:00Z`
  const next = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)).toISOString()
  await raw`create table if not exists ${name} partition of personal_reads
    for values from (${raw.lit(first)}) to (${raw.lit(next)})`.execute(ownerSql)
}

/** The names of all partitions, in the order of time. */
export async function monthsOfReads(sql: Sql): Promise<string[]> {
  const { rows } = await raw<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits
    where inhparent = 'personal_reads'::regclass order by 1`.execute(sql)
  return rows.map(({ name }) => name)
}

/** Has nobody have made any month. */
export async function dropMonths(ownerSql: Sql): Promise<void> {
  for (const name of await monthsOfReads(ownerSql)) await raw`drop table ${raw.table(name)}`.execute(ownerSql)
}
