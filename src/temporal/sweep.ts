import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { sweepAlone } from '../db/sweep-lock.ts'
import { endpointTurns } from '../db/endpoint-trouble.ts'
import { endpointsAtWork } from '../db/endpoint-states.ts'
import { unstartedLeads } from '../db/referral-states.ts'
import type { Sql } from '../db/orm.ts'
import type { WorkerObserver } from '../metrics/worker.ts'
import type { StartEndpoint } from './endpoints.ts'
import { forEachInFlight } from './in-flight.ts'
import type { Referrals } from './referrals.ts'

const INTERVAL_MS = 1000
/** Younger leads are being started by the API that took them. */
const MIN_AGE_MS = 1000
const PAGE = 200
/** Endpoints with something to do are rare and mostly have their workflow: asked for in every fifth sweep. */
const ENDPOINTS_EVERY = 5

interface SweepOptions {
  sql: Sql
  referrals: Referrals
  startEndpoint: StartEndpoint
  observe: Pick<WorkerObserver, 'noticed'>
  log: Logger
  signal: AbortSignal
}

/**
 * Starts the workflows that a crash or an absent Temporal left out: every second, by one process at a time,
 * until `signal` aborts.
 */
export async function sweep(options: SweepOptions): Promise<void> {
  const { sql, log, signal } = options
  let failing = false
  for (let turn = 0; !signal.aborted; turn += 1) {
    try {
      const started = await sweepAlone(sql, () => startLeftOut(options, turn))
      if (started > 0) log.info({ started }, 'started workflows that were left out')
      failing = false
    } catch (error) {
      if (!failing)
        log.warn({ err: error }, 'cannot start workflows that were left out; trying again every second')
      failing = true
    }
    await delay(INTERVAL_MS, undefined, { signal }).catch(() => undefined)
  }
}

async function startLeftOut(
  { sql, referrals, startEndpoint, observe, signal }: SweepOptions,
  turn: number,
): Promise<number> {
  const isEndpointsTurn = turn % ENDPOINTS_EVERY === 0
  // first, because it needs no Temporal
  if (isEndpointsTurn) for (const notice of await endpointTurns(sql)) observe.noticed(notice)
  const leadIds = await unstartedLeads(sql, MIN_AGE_MS, PAGE)
  await forEachInFlight(leadIds, (leadId) => referrals.startFromRecord(leadId), signal)
  if (isEndpointsTurn) {
    const endpoints = await endpointsAtWork(sql, PAGE)
    await forEachInFlight(
      endpoints,
      ({ id, isDraining }) => startEndpoint(id, { quietly: !isDraining }),
      signal,
    )
  }
  return leadIds.length
}
