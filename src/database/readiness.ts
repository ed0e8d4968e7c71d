import { setTimeout as delay } from 'node:timers/promises'
import { sql as raw } from 'kysely'
import type { Config } from '../config.ts'
import { fail, reasonOf } from '../fail.ts'
import { remembered } from './deployment.ts'
import { codeOf, isDatabaseAway } from './errors.ts'
import { reachDatabase, type Sql } from './sql.ts'

/** Why PostgreSQL cannot be used, and what to do, in one line. */
export function databaseRemedy(error: unknown): string {
  const reason = reasonOf(error) || codeOf(error)
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

/**
 * Ends the process of a production whose login owns the tables: whoever breaks into the API could change the audit and the
 * schema. A sandbox may have one login, as that of `npm start` does.
 */
export async function requireServiceLogin(
  sql: Sql,
  { ENVIRONMENT }: Pick<Config<'api'>, 'ENVIRONMENT'>,
): Promise<void> {
  if (ENVIRONMENT !== 'production') return
  const { rows } = await raw`
    select from pg_class
    where oid = to_regclass('audit') and pg_has_role(session_user, relowner, 'member')`.execute(sql)
  if (rows.length > 0)
    fail(
      'DATABASE_URL names an owner of the tables: in production, name the role referrals_service, and give the owner to npm run migrate in MIGRATION_DATABASE_URL. See “On several machines” in docs/run.md.',
    )
}

/**
 * Checks whether the database can be used, and caches a yes. Concurrent calls share one check.
 *
 * @param find finds what to do first, in one line; `undefined` if nothing.
 * @param onRemedy is called once with each line.
 */
export function watchReadiness(
  find: () => Promise<string | undefined>,
  onRemedy: (remedy: string) => void,
): () => Promise<boolean> {
  let told: string | undefined
  const check = async () => {
    const remedy = await find()
    if (remedy !== undefined && remedy !== told) onRemedy(remedy)
    told = remedy ?? told
    return remedy === undefined
  }
  return remembered(check, (isReady) => isReady)
}
