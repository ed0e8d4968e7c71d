import type { Sql } from './orm.ts'

/** Runs `work` in the caller's transaction if there is one, and otherwise in one of its own. */
export const inTransaction = <Result>(sql: Sql, work: (trx: Sql) => Promise<Result>): Promise<Result> =>
  sql.isTransaction ? work(sql) : sql.transaction().execute(work)
