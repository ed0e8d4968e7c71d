import type { Sql } from './sql.ts'

/** Runs `work` in the caller's transaction if there is one, and otherwise in one of its own. */
export const inTransaction = <Result>(sql: Sql, work: (trx: Sql) => Promise<Result>): Promise<Result> =>
  sql.isTransaction ? work(sql) : sql.transaction().execute(work)

/** Reads in one snapshot: what several statements find is of one moment. */
export const inSnapshot = <const Found>(sql: Sql, read: (snapshot: Sql) => Promise<Found>): Promise<Found> =>
  sql.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read)
