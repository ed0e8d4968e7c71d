import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { isDatabaseAway } from './core/database/database-away.ts'
import { refusalOf } from './core/database/refused-connection.ts'
import { isReachable, type Sql } from './core/database/sql.ts'
import { findTooFewConnections } from './core/database/too-few-connections.ts'
import { reasonOf } from './fail.ts'

/** Less than probes and Prometheus wait. */
const ANSWER_LIMIT_MS = 2000

/** Why PostgreSQL cannot be used, in a few words for a probe. */
export function sayDatabaseAway(error: unknown): string {
  const refusal = refusalOf(error)
  if (refusal !== undefined) return `PostgreSQL says: ${refusal.said}; ${refusal.remedy}`
  return isDatabaseAway(error) ? 'PostgreSQL does not answer' : 'the database cannot be used: see the log'
}

/** Why PostgreSQL does not serve this process now; `undefined` if it does. */
export async function findDatabaseFault(sql: Sql): Promise<string | undefined> {
  const tooLate = delay(ANSWER_LIMIT_MS, false, { ref: false })
  const hasAnswered = await Promise.race([isReachable(sql), tooLate]).catch(sayDatabaseAway)
  if (typeof hasAnswered === 'string') return hasAnswered
  return hasAnswered ? undefined : 'PostgreSQL does not answer'
}

/** Says once that PostgreSQL has too few connections left; nothing depends on it. */
export async function warnOfConnections(
  sql: Sql,
  connections: number,
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  const fault = await findTooFewConnections(sql, connections).catch(() => undefined)
  if (fault !== undefined) log.warn(fault)
}

/** Why the database cannot be used, for the log, and what to do. */
function whyUnusable(error: unknown): string {
  const refusal = refusalOf(error)
  return refusal === undefined
    ? `${reasonOf(error)}. Check DATABASE_URL, and that PostgreSQL is running.`
    : `PostgreSQL says: ${refusal.said}; ${refusal.remedy}`
}

/** Why a process cannot start, in one line that says what to do. */
export function unusableDatabase(where: string, error: unknown): string {
  const refusal = refusalOf(error)
  if (refusal !== undefined)
    return `PostgreSQL at ${where} does not let this role in: ${refusal.said}; ${refusal.remedy}`
  return isDatabaseAway(error)
    ? `PostgreSQL does not answer at ${where}: start it, or set DATABASE_URL (${reasonOf(error)})`
    : `PostgreSQL at ${where} cannot be used: ${reasonOf(error)}. Correct DATABASE_URL`
}

/** PostgreSQL may start at the same time: with `npm start`, it does. */
const START_MS = 5000

/** Says that a database cannot be used that could not at the start, unless it soon can, and then that it can be. */
export async function tellWhileUnusable(
  isReady: () => Promise<boolean>,
  log: Pick<Logger, 'info' | 'warn'>,
  startMs = START_MS,
): Promise<void> {
  const began = Date.now()
  let isTold = false
  for (;;) {
    try {
      if (await isReady()) break
    } catch (error) {
      if (!isTold && Date.now() - began >= startMs) {
        log.warn(`the database cannot be used yet, and partners get 503: ${whyUnusable(error)}`)
        isTold = true
      }
    }
    await delay(startMs / 5, undefined, { ref: false })
  }
  if (isTold) log.info('the database can be used now')
}
