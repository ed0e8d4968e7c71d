import { readdirSync } from 'node:fs'
import path from 'node:path'
import { sql as raw } from 'kysely'
import { migrationsFolder } from '../mikro-orm.config.ts'
import type { Sql } from '../orm.ts'

const UNDEFINED_TABLE = '42P01'

/**
 * What to do if the database's schema is older than this code needs, in one line; `undefined` otherwise. A newer one is
 * fine: in a rolling deployment, the old processes keep working after the migration.
 */
export async function olderSchema(sql: Sql): Promise<string | undefined> {
  const applied = new Set(await appliedMigrations(sql))
  const missing = neededMigrations().filter((name) => !applied.has(name))
  if (missing.length === 0) return undefined
  const [first, ...others] = missing
  const which = others.length === 0 ? `${first} is` : `${first} and ${others.length} more are`
  return `The database’s schema is older than this version needs (${which} not applied): run npm run migrate.`
}

/** Those in the folder, by name, in their order. */
function neededMigrations(): string[] {
  return readdirSync(migrationsFolder)
    .map((file) => path.parse(file))
    .filter(({ ext }) => ext === '.ts')
    .map(({ name }) => name)
    .toSorted()
}

async function appliedMigrations(sql: Sql): Promise<string[]> {
  try {
    const { rows } = await raw<{ name: string }>`select name from mikro_orm_migrations`.execute(sql)
    return rows.map(({ name }) => name)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE) return []
    throw error
  }
}
