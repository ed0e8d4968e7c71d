import { sql as raw } from 'kysely'
import type { Logger } from 'pino'
import type { Sql } from '../database/sql.ts'
import { forEachInFlight, keepTurning } from '../temporal/in-flight.ts'
import { referralId } from '../temporal/names.ts'
import type { ReferralState } from './referral-state.ts'
import type { Referrals } from './referrals.ts'

const INTERVAL_MS = 1000
const PAGE = 200
/** Younger leads are being started by the API that took them. */
const MIN_AGE_MS = 1000
/** How long a lead whose start failed is skipped, to not delay the others. */
const REST_MS = 60_000

interface SweepOptions {
  sql: Sql
  referrals: Pick<Referrals, 'startFromRecord'>
  /** How many starts are under way at a time. */
  inFlight: number
  log: Logger
  signal: AbortSignal
}

/**
 * Starts workflows of leads that have none because of a crash, or because Temporal was away: every second, until `signal`
 * aborts. Every worker runs it: a repeated start changes nothing. A start that fails is logged once until it succeeds.
 */
export async function sweepStarts({ sql, referrals, inFlight, log, signal }: SweepOptions): Promise<void> {
  const restUntil = new Map<number, number>()
  const turn = async () => {
    const now = performance.now()
    const resting = [...restUntil].flatMap(([id, until]) => (until > now ? id : []))
    const ids = await unstartedLeads(sql, resting)
    const failed = await forEachInFlight(ids, referrals.startFromRecord, { signal, limit: inFlight })
    for (const { item: id, error: err } of failed)
      if (!restUntil.has(id))
        log.error(
          { err, lead_id: id, workflow_id: referralId(id) },
          'cannot start a lead’s workflow; trying again every minute',
        )
    for (const id of ids) restUntil.delete(id)
    for (const { item: id } of failed) restUntil.set(id, performance.now() + REST_MS)
    const started = ids.length - failed.length
    if (started > 0) log.info({ started }, 'started the workflows of leads that had none')
  }
  const onFailure = (err: unknown) =>
    log.warn({ err }, 'cannot start the workflows of leads that have none; trying again every second')
  await keepTurning({ everyMs: INTERVAL_MS, turn, onFailure }, { signal })
}

/** The oldest leads without a started workflow, shuffled, so that several workers begin with different ones. */
async function unstartedLeads(sql: Sql, resting: readonly number[]): Promise<number[]> {
  const { rows } = await raw<{ id: number }>`
    select id from (
      select id from leads
      where workflow_started_at is null and id <> all(${resting}::int[])
        and created_at < now() - ${MIN_AGE_MS} * interval '1 millisecond'
      order by created_at limit ${PAGE}
    ) as oldest order by random()`.execute(sql)
  return rows.map(({ id }) => id)
}

/** Workflow starts at a time, of each API process and of the sweep. A sandbox often shares its processors with Temporal. */
export const STARTS_IN_FLIGHT = { sandbox: 1, production: 8 }

/**
 * Starts workflows right after create-lead's commit, without delaying its answer. Beyond `limit` at a time, starts are
 * left to the worker's sweep, so that a Temporal that is slow or away costs the API nothing.
 */
export function boundedStarts(
  referrals: Pick<Referrals, 'start'>,
  limit: number,
  onFailure: (error: unknown, leadId: number) => void,
) {
  const inFlight = new Set<Promise<void>>()
  return {
    offer(state: ReferralState): void {
      if (inFlight.size >= limit) return
      const starting = referrals
        .start(state)
        .catch((error: unknown) => onFailure(error, state.leadId))
        .finally(() => inFlight.delete(starting))
      inFlight.add(starting)
    },
    async settled(): Promise<void> {
      await Promise.all(inFlight)
    },
  }
}
