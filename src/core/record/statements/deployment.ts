import { sql as raw } from 'kysely'
import { v4 as uuid } from 'uuid'
import type { Environment } from '../../values/environment.ts'
import { secondsSince2026 } from './epoch.ts'
import { migrate } from '../../database/schema/migrating.ts'
import type { Orm } from '../../database/orm.ts'
import { type Sql, sqlOf } from '../../database/sql.ts'

/** The database holds the record of the other environment; `message` is one line that says what to do. */
export class OtherEnvironment extends Error {
  constructor(stored: Environment, asked: Environment) {
    super(
      `This database belongs to a ${stored} deployment, and ENVIRONMENT is ${asked}: point DATABASE_URL at the ${asked} database, or set ENVIRONMENT=${stored}.`,
    )
  }
}

/**
 * The id of the deployment that the database belongs to. The first program that asks sets its environment, forever.
 *
 * @throws {OtherEnvironment} when it is one of the other environment.
 */
export async function requireDeployment(sql: Sql, environment: Environment): Promise<string> {
  const find = findDeployment(sql)
  let stored = await find.executeTakeFirst()
  if (stored === undefined) {
    await create(sql, environment)
    stored = await find.executeTakeFirstOrThrow()
  }
  if (stored.environment !== environment) throw new OtherEnvironment(stored.environment, environment)
  return stored.id
}

const findDeployment = (sql: Sql) => sql.selectFrom('deployment').select(['id', 'environment'])

/** If several programs do this at once, one of them wins. */
async function create(sql: Sql, environment: Environment): Promise<void> {
  await sql
    .insertInto('deployment')
    .values({ id: uuid(), environment, epoch: secondsSince2026 })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Caches the result of `require` once it succeeds. Concurrent calls share one request. */
export function remembered(require: () => Promise<string>): () => Promise<string> {
  let known: Promise<string> | undefined
  return () => {
    known ??= require().catch((error: unknown) => {
      known = undefined
      throw error
    })
    return known
  }
}

/**
 * Brings the schema of a deployment's database up to date; that of the other environment stays untouched.
 *
 * @returns how many migrations were applied.
 * @throws {OtherEnvironment}
 */
export async function migrateDeployment(orm: Orm, environment: Environment): Promise<number> {
  const sql = sqlOf(orm)
  const { rows } = await raw<{ known: boolean }>`
    select to_regclass('deployment') is not null as known`.execute(sql)
  const isMade = rows[0]?.known && (await findDeployment(sql).executeTakeFirst()) !== undefined
  if (isMade) await requireDeployment(sql, environment)
  const applied = await migrate(orm)
  await requireDeployment(sql, environment)
  return applied
}
