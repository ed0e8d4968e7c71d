import { setTimeout as delay } from 'node:timers/promises'
import { sql as raw } from 'kysely'
import type { Config } from '../config.ts'
import { fail, reasonOf, Refusal } from '../fail.ts'
import { lackingKeys, SealError } from '../seal.ts'
import type { Environment } from '../values.ts'
import { OtherEnvironment, requireDeployment } from './deployment.ts'
import { codeOf, isDatabaseAway } from './errors.ts'
import { requireSchema } from './schema.ts'
import { reachDatabase, type Sql } from './sql.ts'

/**
 * The id of the deployment whose record this is.
 *
 * @throws {Refusal} while a migration is missing; a SealError when an encryption key is missing; OtherEnvironment when the
 *   record is the other environment's.
 */
export async function requireRecord(
  sql: Sql,
  environment: Environment,
  encryptionKeys: readonly Buffer[],
): Promise<string> {
  await requireSchema(sql)
  const lacking = await lackingKeys(sql, encryptionKeys)
  if (lacking !== undefined) throw new SealError(lacking)
  return requireDeployment(sql, environment)
}

/**
 * As `requireRecord`, for a process that serves. Ends the process if the record is the other environment's, or if in
 * production its login owns the tables: whoever broke into the API could change the audit and the schema. A sandbox may have
 * one login, as `npm start` does.
 */
export async function requireOwnRecord(
  sql: Sql,
  { ENVIRONMENT: environment, ENCRYPTION_KEY: keys }: Pick<Config<'api'>, 'ENVIRONMENT' | 'ENCRYPTION_KEY'>,
): Promise<string> {
  const { rows } = await raw`
    select from pg_class
    where oid = to_regclass('audit') and pg_has_role(session_user, relowner, 'member')`.execute(sql)
  if (rows.length > 0 && environment === 'production')
    fail(
      'DATABASE_URL names an owner of the tables: in production, name the role referrals_service, and give the owner to npm run migrate in MIGRATION_DATABASE_URL. See “On several machines” in docs/run.md.',
    )
  return requireRecord(sql, environment, keys).catch((error: unknown) => {
    if (error instanceof OtherEnvironment) fail(error.message)
    throw error
  })
}

/** Why PostgreSQL or its record cannot be used, and what to do, in one line. */
export function databaseRemedy(error: unknown): string {
  const reason = reasonOf(error) || codeOf(error)
  if (error instanceof Refusal) return reason
  return isDatabaseAway(error)
    ? `PostgreSQL does not answer: start it, or correct DATABASE_URL (${reason})`
    : `PostgreSQL cannot be used: ${reason}. Correct DATABASE_URL`
}

/** Less than probes and Prometheus wait. */
const ANSWER_LIMIT_MS = 2000

/** Why PostgreSQL does not serve this process now, in one line; `undefined` if it does. */
export async function findDatabaseFault(sql: Sql): Promise<string | undefined> {
  const tooLate = delay(ANSWER_LIMIT_MS, 'PostgreSQL does not answer', { ref: false })
  return Promise.race([reachDatabase(sql).then(() => undefined, databaseRemedy), tooLate])
}
