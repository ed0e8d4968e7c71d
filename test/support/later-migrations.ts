import type { Constructor } from '@mikro-orm/core'
import type { Migration } from '@mikro-orm/migrations'
import { sql as raw } from 'kysely'
import { Migration20261126000000_initial as Initial } from '../../src/core/database/migrations/Migration20261126000000_initial.ts'
import { connect, type Orm, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { atEnd } from './at-end.ts'

/** Has these migrations follow what the database has. */
export function addMigrations(orm: Orm, ...later: Constructor<Migration>[]): void {
  const migrations = orm.config.get('migrations')
  orm.config.set('migrations', { ...migrations, migrationsList: [Initial, ...later] })
}

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

/** How many sessions of this database make an index concurrently and satisfy the condition. */
export async function indexBuilders(sql: Sql, condition: string): Promise<number> {
  const { rows } = await raw`select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query like 'create index concurrently%'
      and ${raw.raw(condition)}`.execute(sql)
  return rows.length
}
