import { setTimeout as delay } from 'node:timers/promises'
import { sql as raw } from 'kysely'
import type { Logger } from 'pino'
import { reasonOf } from '../fail.ts'
import { isDatabaseAway, refusalOf } from './errors.ts'
import { isReachable, type Sql } from './sql.ts'

/** What PostgreSQL says of its connections. */
export interface Connections {
  /** Those of `pg_settings` that are asked for. */
  settings: Readonly<Record<string, string>>
  /** By whomever, this session among them. */
  connected: number
}

const CAPACITY = ['max_connections', 'superuser_reserved_connections', 'reserved_connections'] as const

/**
 * Why PostgreSQL has too few connections left for a process, in one line that says what to do; `undefined` if it has enough.
 *
 * @param connections the most that the process opens.
 */
export async function findTooFewConnections(sql: Sql, connections: number): Promise<string | undefined> {
  return tooFewConnections(await readConnections(sql), connections)
}

export function tooFewConnections({ settings, connected }: Connections, connections: number) {
  const [most = 0, ...reserved] = CAPACITY.map((name) => Number(settings[name] ?? 0))
  const free = reserved.reduce((left, count) => left - count, most) - connected
  // one of them is this session
  if (connections - 1 <= free) return undefined
  return `PostgreSQL’s max_connections of ${most} leaves ${Math.max(free, 0)} more connections, and this process opens up to ${connections}: raise max_connections, or lower DATABASE_POOL. See “Connections to PostgreSQL” in docs/operations/metrics-and-limits.md`
}

async function readConnections(sql: Sql): Promise<Connections> {
  // of others' sessions, it may not see more than that somebody has logged in
  const { rows } = await raw<Connections>`
    select (select json_object_agg(name, setting) from pg_settings where name = any(${[...CAPACITY]})) as settings,
      (select count(*)::int from pg_stat_activity where usesysid is not null and datid is not null) as connected`.execute(
    sql,
  )
  return rows[0] ?? { settings: {}, connected: 0 }
}

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
