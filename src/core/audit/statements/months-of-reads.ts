import { sql as raw } from 'kysely'
import type { Sql } from '../../database/orm.ts'

/** PostgreSQL reports a row that no partition takes as it does one that a check refuses, but names no check. */
const CHECK_VIOLATION = '23514'

/**
 * Makes the months of `personal_reads` that are missing, up to the third from now. A function of the database's owner does,
 * because the service may not.
 */
export async function makeMonthsOfReads(sql: Sql): Promise<void> {
  await raw`select make_months_of_reads()`.execute(sql)
}

/** Writes reads, and makes their month first if nobody has: no worker may have run for months. */
export async function makingMonths<Result>(sql: Sql, write: () => Promise<Result>): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (!lacksMonth(error)) throw error
    await makeMonthsOfReads(sql)
    return write()
  }
}

const lacksMonth = (error: unknown) =>
  error instanceof Error &&
  'code' in error &&
  error.code === CHECK_VIOLATION &&
  'constraint' in error &&
  error.constraint === undefined
