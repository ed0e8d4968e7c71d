import { readdirSync } from 'node:fs'
import path from 'node:path'
import { sql as raw } from 'kysely'
import type { Orm } from './orm.ts'
import type { Patience } from './session-options.ts'
import { type Sql, sqlOf, takeLock } from './sql.ts'

export const migrationsFolder = `${import.meta.dirname}/migrations`

const OLDER = 'The database’s schema is older than this version needs: run npm run migrate.'
/** No row of its history is ours: nothing migrates it. */
export const FOREIGN =
  'The database’s schema is another one, which this version cannot migrate: use an empty database. For npm start, begin anew with npm start -- --fresh'

/**
 * What to do if the database has not the schema of this code, in one line; `undefined` otherwise. One with more migrations
 * is fine: in a rolling deployment, processes keep working after the migration.
 */
export async function otherSchema(sql: Sql): Promise<string | undefined> {
  const applied = await appliedMigrations(sql)
  const needed = neededMigrations()
  if (needed.every((name) => applied.includes(name))) return undefined
  return applied.every((name) => needed.includes(name)) ? OLDER : FOREIGN
}

/** Those in the folder, by name. */
function neededMigrations(): string[] {
  return readdirSync(migrationsFolder)
    .map((file) => path.parse(file))
    .filter(({ ext }) => ext === '.ts')
    .map(({ name }) => name)
}

async function appliedMigrations(sql: Sql): Promise<string[]> {
  const { rows: tables } = await raw`select where to_regclass('mikro_orm_migrations') is not null`.execute(
    sql,
  )
  if (tables.length === 0) return []
  const { rows } = await raw<{ name: string }>`select name from mikro_orm_migrations`.execute(sql)
  return rows.map(({ name }) => name)
}

/** The oldest major version of PostgreSQL with which the service is tested. */
const OLDEST = 15

/** What to do if the server is older than that, in one line; `undefined` otherwise. */
export async function olderServer(sql: Sql, oldest = OLDEST): Promise<string | undefined> {
  const { rows } = await raw<{ major: number; version: string }>`
    select current_setting('server_version_num')::int / 10000 as major,
      current_setting('server_version') as version`.execute(sql)
  const { major = 0, version } = rows[0] ?? {}
  return major < oldest
    ? `PostgreSQL ${version} is older than the service needs: use PostgreSQL ${oldest} or newer`
    : undefined
}

/** A statement that changes a table waits for all that use it, and whatever comes after waits for that statement. */
export const migrationPatience: Patience = {
  connectMs: 2000,
  lockMs: 3000,
  statementMs: 0,
  idleInTransactionMs: 0,
  application: 'migrate',
}

/**
 * Brings the schema up to date, in one transaction. Two processes that try at once take turns.
 *
 * @returns how many migrations were applied.
 * @throws {Error} one line that says what to do about a schema that no migration of ours made.
 */
export async function migrate(orm: Orm): Promise<number> {
  return sqlOf(orm)
    .transaction()
    .execute(async (trx) => {
      await raw`set local lock_timeout = 0`.execute(trx)
      await raw`set local idle_in_transaction_session_timeout = 0`.execute(trx)
      await takeLock(trx, 'migration')
      if ((await otherSchema(trx)) === FOREIGN) throw new Error(FOREIGN)
      return (await orm.migrator.up()).length
    })
}
