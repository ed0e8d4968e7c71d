import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { sql as raw } from 'kysely'
import { Refusal } from '../fail.ts'
import type { Environment } from '../values.ts'
import { requireDeployment } from './deployment.ts'
import { codeOf, isDenied } from './errors.ts'
import { connect, type Orm } from './orm.ts'
import { reachDatabase, type Sql, sqlOf, takeLock } from './sql.ts'

const OTHER =
  'The database’s schema is not the one that this version needs: run npm run migrate. For npm start, begin anew with npm start -- --fresh'

async function exists(sql: Sql, table: string): Promise<boolean> {
  const { rows } = await raw`select where to_regclass(${table}) is not null`.execute(sql)
  return rows.length > 0
}

/**
 * A database with more migrations is fine: in a rolling deployment, old processes keep working after the migration.
 *
 * @throws {Refusal} if the database lacks a migration.
 */
export async function requireSchema(sql: Sql): Promise<void> {
  if (!(await exists(sql, 'mikro_orm_migrations'))) throw new Refusal(OTHER)
  const { rows } = await raw<{ name: string }>`select name from mikro_orm_migrations`.execute(sql)
  const applied = new Set(rows.map(({ name }) => name))
  const needed = readdirSync(`${import.meta.dirname}/migrations`).map((file) => path.parse(file).name)
  if (!needed.every((name) => applied.has(name))) throw new Refusal(OTHER)
}

/**
 * Brings the schema up to date, in one transaction. Two processes that try at once take turns.
 *
 * @returns how many migrations were applied.
 */
export async function migrate(orm: Orm): Promise<number> {
  return sqlOf(orm)
    .transaction()
    .execute(async (trx) => {
      await raw`set local lock_timeout = 0`.execute(trx)
      await takeLock(trx, 'migration')
      return (await orm.migrator.up()).length
    })
}

/**
 * Migrates a deployment's database, unless it is the other environment's.
 *
 * @returns how many migrations were applied.
 * @throws {OtherEnvironment}
 */
export async function migrateDeployment(orm: Orm, environment: Environment): Promise<number> {
  const sql = sqlOf(orm)
  if (await exists(sql, 'deployment')) await requireDeployment(sql, environment)
  const applied = await migrate(orm)
  await requireDeployment(sql, environment)
  return applied
}

const SERVICE = 'referrals_service'

/**
 * Makes the two roles where they are missing, and grants them their rights: see roles.sql.
 *
 * @throws {Error} what to do, in one line, if the owner may not make them; then no rights are granted.
 */
export async function applyRoles(owner: Orm): Promise<void> {
  const roles = readFileSync(`${import.meta.dirname}/roles.sql`, 'utf8')
  await sqlOf(owner)
    .transaction()
    .execute(async (trx) => {
      // PostgreSQL fails concurrent grants
      await takeLock(trx, 'migration')
      await raw.raw(roles).execute(trx)
    })
}

/**
 * Lets the service log in with the password in its URL, if it cannot yet.
 *
 * @throws {Error} one line that says what to do, if the URL names another role.
 */
export async function provideLogin(owner: Orm, serviceUrl: string): Promise<void> {
  const { username, password } = new URL(serviceUrl)
  if (decodeURIComponent(username) !== SERVICE)
    throw new Error(`DATABASE_URL must name the role ${SERVICE}, to which roles.sql grants its rights`)
  const service = await connect(serviceUrl)
  try {
    await reachDatabase(sqlOf(service))
  } catch (error) {
    if (!isLoginRefused(error)) throw error
    // only now: PostgreSQL may log a statement that fails, with its password
    const secret = raw.lit(decodeURIComponent(password))
    await raw`alter role ${raw.id(SERVICE)} login password ${secret}`.execute(sqlOf(owner))
  } finally {
    await service.close()
  }
}

const isLoginRefused = (error: unknown) => ['28P01', '28000'].includes(codeOf(error))

/** Whether a migration failed because the login is not the owner of the database. */
export const isNoOwner = (error: unknown) => isDenied(error) || isLoginRefused(error)
