import { readdirSync } from 'node:fs'
import path from 'node:path'
import { sql as raw } from 'kysely'
import { migrationsFolder } from '../mikro-orm.config.ts'
import type { Sql } from '../sql.ts'

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
