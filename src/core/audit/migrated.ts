import type { Sql } from '../database/orm.ts'
import { makeMonthsOfReads } from './statements/months-of-reads.ts'

/** Makes the months that a restored backup, or a database that was away for long, does not have. */
export async function monthsMigrated(sql: Sql): Promise<string[]> {
  await makeMonthsOfReads(sql)
  return []
}
