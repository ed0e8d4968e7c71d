import type { Logger } from 'pino'
import type { Sql } from '../../database/sql.ts'
import { forEachInFlight } from '../../temporal/in-flight.ts'
import { keepTurning } from '../../temporal/keep-turning.ts'
import { referralId } from '../../temporal/names.ts'
import { unstartedLeads } from '../statements/workflow-starts.ts'
import type { Referrals } from './referrals.ts'

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
