import { setTimeout as delay } from 'node:timers/promises'
import { sql as raw } from 'kysely'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { fail, reasonOf } from '../fail.ts'
import { codeOf, isDatabaseAway } from './errors.ts'
import { reachDatabase, type Sql } from './sql.ts'

/** What to do when PostgreSQL refuses a connection, by SQLSTATE. */
const REMEDIES: Readonly<Record<string, string>> = {
  '28000': 'correct the role in DATABASE_URL, or let it in by pg_hba.conf',
  '28P01': 'correct role and password in DATABASE_URL',
  '3D000': 'create the database, or correct its name in DATABASE_URL',
  '42501': 'grant the role of DATABASE_URL what it lacks, or correct DATABASE_URL',
  '55P03': 'end the transaction that holds the lock, or try again',
  '53300': 'raise PostgreSQL’s max_connections, lower DATABASE_POOL, or start fewer processes',
}

/** Why PostgreSQL cannot be used, and what to do, in one line. */
export function databaseRemedy(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const remedy = REMEDIES[codeOf(cause)]
    if (remedy !== undefined) return `PostgreSQL says: ${cause.message} (${codeOf(cause)}); ${remedy}`
  }
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
  let isReady = false
  let told: string | undefined
  let asking: Promise<boolean> | undefined
  async function ask(): Promise<boolean> {
    const remedy = await find()
    if (remedy !== undefined && remedy !== told) onRemedy(remedy)
    told = remedy ?? told
    isReady = remedy === undefined
    return isReady
  }
  return async () => {
    if (isReady) return true
    asking ??= ask().finally(() => (asking = undefined))
    return asking
  }
}

/** PostgreSQL may start at the same time: with `npm start`, it does. */
const START_MS = 5000

/** Logs once that the database cannot be used, if it still cannot after `startMs`, and once that it can. */
export async function tellWhileUnusable(
  isReady: () => Promise<boolean>,
  log: Pick<Logger, 'info' | 'warn'>,
  startMs = START_MS,
): Promise<void> {
  const began = performance.now()
  let isTold = false
  for (;;) {
    try {
      if (await isReady()) break
    } catch (error) {
      if (!isTold && performance.now() - began >= startMs) {
        log.warn(`partners get 503: ${databaseRemedy(error)}`)
        isTold = true
      }
    }
    await delay(startMs / 5, undefined, { ref: false })
  }
  if (isTold) log.info('the database can be used now')
}
