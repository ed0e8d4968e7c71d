import { sql as raw } from 'kysely'
import type { Logger } from 'pino'
import type { Sql } from '../database/sql.ts'
import { forEachInFlight, keepTurning } from '../temporal/in-flight.ts'
import { referralId } from '../temporal/names.ts'
import type { Referrals } from './referrals.ts'

/**
 * The oldest leads without a recorded workflow start, older than `olderThanMs` and not in `but`, in any order: of those that
 * several workers find, each begins with another one.
 */
async function unstartedLeads(
  sql: Sql,
  { olderThanMs, but, limit }: { olderThanMs: number; but: readonly number[]; limit: number },
): Promise<number[]> {
  const oldest = sql
    .selectFrom('leads')
    .select('id')
    .where('workflow_started_at', 'is', null)
    .where('created_at', '<', raw<Date>`now() - ${olderThanMs} * interval '1 millisecond'`)
    .$if(but.length > 0, (query) => query.where('id', 'not in', but))
    .orderBy('created_at')
    .limit(limit)
    .as('oldest')
  const rows = await sql
    .selectFrom(oldest)
    .select('id')
    .orderBy(raw`random()`)
    .execute()
  return rows.map((row) => row.id)
}

export async function isUnstarted(sql: Sql, leadId: number): Promise<boolean> {
  const unstarted = sql.selectFrom('leads').select('id').where('workflow_started_at', 'is', null)
  return (await unstarted.where('id', '=', leadId).executeTakeFirst()) !== undefined
}

export async function markStarted(sql: Sql, leadId: number): Promise<void> {
  await sql
    .updateTable('leads')
    .set({ workflow_started_at: raw<Date>`clock_timestamp()` })
    .where('id', '=', leadId)
    .where('workflow_started_at', 'is', null)
    .execute()
}

const INTERVAL_MS = 1000
const PAGE = 200
/** Younger leads are being started by the API that took them. */
const MIN_AGE_MS = 1000
/** How long a lead whose start failed is skipped, to not delay the others. */
const REST_MS = 60_000

interface SweepOptions {
  sql: Sql
  referrals: Pick<Referrals, 'startFirst'>
  /** How many starts are under way at a time. */
  inFlight: number
  log: Logger
  signal: AbortSignal
}

/**
 * Starts the workflows of leads that a crash or an absent Temporal left out: every second, until `signal` aborts. Each worker
 * does, as a start that is repeated changes nothing. A start that fails is told once until it succeeds.
 */
export async function sweepStarts({ sql, referrals, inFlight, log, signal }: SweepOptions): Promise<void> {
  const restUntil = new Map<number, number>()
  const turn = async () => {
    const now = performance.now()
    const but = [...restUntil].flatMap(([id, until]) => (until > now ? id : []))
    const ids = await unstartedLeads(sql, { olderThanMs: MIN_AGE_MS, but, limit: PAGE })
    const start = (id: number) => referrals.startFirst(id)
    const failed = await forEachInFlight(ids, start, { signal, limit: inFlight })
    for (const { item: id, error: err } of failed)
      if (!restUntil.has(id))
        log.error(
          { err, lead_id: id, workflow_id: referralId(id) },
          'cannot start a lead’s workflow; trying again every minute',
        )
    for (const id of ids) restUntil.delete(id)
    for (const { item: id } of failed) restUntil.set(id, performance.now() + REST_MS)
    const started = ids.length - failed.length
    if (started > 0) log.info({ started }, 'started workflows that were left out')
  }
  const onFailure = (err: unknown) =>
    log.warn({ err }, 'cannot start workflows that were left out; trying again every second')
  await keepTurning({ everyMs: INTERVAL_MS, turn, onFailure }, { signal })
}
