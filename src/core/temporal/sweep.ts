import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { alone } from '../database/alone.ts'
import { turnIncidents } from '../endpoints/statements/incidents.ts'
import { runningCertifications } from '../../capabilities/self-service/statements/certifications.ts'
import { announcedChanges } from '../../capabilities/self-service/statements/announced-changes.ts'
import { openPings } from '../../capabilities/self-service/statements/pings.ts'
import { endpointsAtWork } from '../endpoints/statements/states.ts'
import { unstartedLeads } from '../leads/statements/workflow-starts.ts'
import type { Sql } from '../database/orm.ts'
import { partnersWithScenarios, runsToLookAfter } from '../../capabilities/sandbox/statements/sandbox-runs.ts'
import { erasuresToStart } from '../../capabilities/erasure/statements/requests.ts'
import { noteAlive, openRestores } from '../../capabilities/restore/statements/restores.ts'
import { partnersWithResends } from '../deliveries/statements/resend-marks.ts'
import type { WorkerObserver } from '../../metrics/worker.ts'
import type { StartErasure } from '../../capabilities/erasure/workflows/erasures.ts'
import type { EndpointRequests } from '../../capabilities/self-service/workflows/endpoint-requests.ts'
import type { StartEndpoint } from '../endpoints/workflows/endpoints.ts'
import { createAuditHeadLog } from '../../capabilities/audit/audit-head-log.ts'
import { forEachInFlight } from './in-flight.ts'
import { rememberFailures } from './remembered-failures.ts'
import type { Referrals } from '../leads/workflows/referrals.ts'
import type { StartResends } from '../deliveries/workflows/resend.ts'
import type { Scenarios } from '../../capabilities/sandbox/workflows/scenarios.ts'
import type { StartRestore } from '../../capabilities/restore/workflows/restores.ts'

const INTERVAL_MS = 1000
/** Younger leads are being started by the API that took them. */
const MIN_AGE_MS = 1000
const PAGE = 200
/** Endpoints, resends and what partners ask for, with something to do are rare and mostly have their workflow: every fifth sweep. */
const ENDPOINTS_EVERY = 5

interface SweepOptions {
  sql: Sql
  referrals: Referrals
  startEndpoint: StartEndpoint
  startResends: StartResends
  endpointRequests: EndpointRequests
  startRestore: StartRestore
  startErasure: StartErasure
  startScenarios: Scenarios['startWaiting']
  lookAfterRun: (id: number) => Promise<void>
  observe: Pick<WorkerObserver, 'noticed'>
  /** Starts of leads' workflows at a time. */
  startsInFlight: number
  log: Logger
  signal: AbortSignal
}

/**
 * Starts the workflows that a crash or an absent Temporal left out: every second, by one process at a time,
 * until `signal` aborts.
 */
export async function sweep(options: SweepOptions): Promise<void> {
  const { sql, log, signal } = options
  const turns = createTurns(options)
  let failing = false
  for (let turn = 0; !signal.aborted; turn += 1) {
    try {
      const started = await alone(sql, 'sweep', () => turns.take(turn % ENDPOINTS_EVERY === 0))
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

function createTurns(options: SweepOptions) {
  const { sql, referrals, startEndpoint, startResends, endpointRequests, startRestore } = options
  const { startErasure, startScenarios, lookAfterRun, observe, startsInFlight, log, signal } = options
  const leads = rememberFailures((err, id) =>
    log.error({ err, lead_id: id }, 'cannot start a lead’s workflow; trying again every minute'),
  )
  const endpoints = rememberFailures((err, id) =>
    log.error({ err, endpoint_id: id }, 'cannot start an endpoint’s workflow; trying again every minute'),
  )

  const resends = rememberFailures((err, id) =>
    log.error({ err, partner_id: id }, 'cannot start a partner’s resends; trying again every minute'),
  )
  const requests = [
    { find: runningCertifications, start: endpointRequests.certify },
    { find: announcedChanges, start: (id: number) => endpointRequests.change(id, { quietly: true }) },
    { find: openPings, start: endpointRequests.ping },
    { find: openRestores, start: startRestore },
    { find: erasuresToStart, start: (id: number) => startErasure(id, { quietly: true }) },
    { find: partnersWithScenarios, start: startScenarios },
    { find: runsToLookAfter, start: lookAfterRun },
  ].map((request) => ({
    ...request,
    failures: rememberFailures((err, id) =>
      log.error({ err, id }, 'cannot start what a partner or staff asked for; trying again every minute'),
    ),
  }))

  const logAuditHead = createAuditHeadLog(sql, log)

  async function startLeads(): Promise<number> {
    const ids = await unstartedLeads(sql, { olderThanMs: MIN_AGE_MS, but: leads.resting(), limit: PAGE })
    const failed = await forEachInFlight(ids, (id) => referrals.startFirst(id), {
      signal,
      limit: startsInFlight,
    })
    leads.learn(ids, failed)
    return ids.length - failed.length
  }

  async function startEndpoints(): Promise<void> {
    const resting = new Set(endpoints.resting())
    const found = await endpointsAtWork(sql, PAGE + resting.size)
    const atWork = found.filter(({ id }) => !resting.has(id))
    const draining = new Set(atWork.filter(({ isDraining }) => isDraining).map(({ id }) => id))
    const ids = atWork.map(({ id }) => id)
    const start = (id: number) => startEndpoint(id, { quietly: !draining.has(id) })
    endpoints.learn(ids, await forEachInFlight(ids, start, { signal }))
  }

  /** Starts the workflows of those that the record lists, apart from those that failed a moment ago. */
  async function startListed(
    find: (sql: Sql, limit: number) => Promise<number[]>,
    start: (id: number) => Promise<unknown>,
    failures: typeof resends,
  ): Promise<void> {
    const resting = new Set(failures.resting())
    // those that failed must not hide the rest
    const ids = (await find(sql, PAGE + resting.size)).filter((id) => !resting.has(id))
    failures.learn(ids, await forEachInFlight(ids, start, { signal }))
  }

  return {
    /** Answers how many leads were started. */
    async take(isEndpointsTurn: boolean): Promise<number> {
      // first, because it needs no Temporal
      if (isEndpointsTurn) await noteAlive(sql)
      if (isEndpointsTurn) await logAuditHead()
      if (isEndpointsTurn) for (const notice of await turnIncidents(sql)) observe.noticed(notice)
      const started = await startLeads()
      if (isEndpointsTurn) {
        await startEndpoints()
        await startListed(partnersWithResends, (id) => startResends(id, { quietly: true }), resends)
        for (const { find, start, failures } of requests) await startListed(find, start, failures)
      }
      return started
    },
  }
}
