import { sql as raw } from 'kysely'
import { connect, sqlOf } from '../../src/core/database/orm.ts'
import { atEnd } from './at-end.ts'

/** Reads a table as a dump does, in a transaction that is open until `end`. */
export async function dumping(url: string, table: string) {
  const dumper = await connect(url, { connectMs: 2000, application: 'pg_dump' })
  atEnd(() => dumper.close())
  const [begun, ended] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()]
  const dump = sqlOf(dumper)
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      const { rows } = await raw<{ pid: number }>`
        select pg_backend_pid() as pid from (select count(*) from ${raw.table(table)}) as all_of_them`.execute(
        trx,
      )
      begun.resolve(rows[0]?.pid ?? 0)
      await ended.promise
    })
  return { pid: await begun.promise, end: async () => (ended.resolve(), dump) }
}
