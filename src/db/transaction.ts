import type { Sql } from './orm.ts'

/** Runs `work` in the caller's transaction if there is one, else in its own. */
export async function inTransaction<Result>(sql: Sql, work: (trx: Sql) => Promise<Result>): Promise<Result> {
  return sql.isTransaction ? work(sql) : sql.transaction().execute(work)
}
