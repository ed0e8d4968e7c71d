import { setTimeout as delay } from 'node:timers/promises'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Build } from '../config.ts'
import type { Orm } from '../database/orm.ts'
import { clockAheadSeconds, sqlOf } from '../database/sql.ts'

const CACHE_MS = 5000
/** Prometheus waits ten seconds for all metrics, and PostgreSQL may be away. */
const READ_LIMIT_MS = 2000

/** Caches what `read` answers for five seconds; `undefined` if it fails or takes too long. */
export function cached<Counts>(read: () => Promise<Counts>): () => Promise<Counts | undefined> {
  let answer: Promise<Counts | undefined> | undefined
  let readAt = 0
  return () => {
    if (answer === undefined || performance.now() - readAt > CACHE_MS) {
      readAt = performance.now()
      const tooLate = delay(READ_LIMIT_MS, undefined, { ref: false })
      answer = Promise.race([read(), tooLate]).catch(() => undefined)
    }
    return answer
  }
}

/** Registers a gauge that has no value while none can be read. */
export function registerGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => Promise<number | undefined>,
): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await read()
      if (value === undefined) gauge.remove()
      else gauge.set(value)
    },
  })
}

/** What a gauge reads that is 1 while `find` finds no fault, and 0 else. */
export function isUp(find: () => Promise<string | undefined>): () => Promise<number> {
  const read = cached(async () => (await find()) === undefined)
  return async () => Number((await read()) ?? false)
}

/** What API and worker have in common. */
interface Process {
  build: Build
  orm: Orm
  /** Why PostgreSQL does not serve this process. */
  findDatabaseFault: () => Promise<string | undefined>
  /** Rejects when Temporal does not answer this process. */
  reachTemporal: () => Promise<unknown>
}

/**
 * Registers the build of a process, and whether PostgreSQL and Temporal answer it. Every series has the build as a label, so
 * that two builds at one address stay apart.
 */
export function registerProcess(registry: Registry, process: Process): void {
  const { build, orm, findDatabaseFault, reachTemporal } = process
  registry.setDefaultLabels({ build: build.build })
  const info = new Gauge({
    name: 'referrals_build_info',
    help: 'Always 1: its labels say which build this process runs',
    labelNames: ['version', 'build'],
    registers: [registry],
  })
  info.set({ ...build }, 1)
  const waiting = async () => (await orm.em.getConnection().getNativeClient()).waitingCount
  const clockAhead = cached(() => clockAheadSeconds(sqlOf(orm)))
  const temporalUp = isUp(() => reachTemporal().then(() => undefined))
  const databaseUp = isUp(findDatabaseFault)
  const gauges = [
    // first, so that it does not count the other readings, which need connections
    ['referrals_database_connections_waiting', 'Statements that wait for a connection', waiting],
    ['referrals_database_clock_difference_seconds', 'How far our clock is ahead of PostgreSQL’s', clockAhead],
    ['referrals_database_up', 'Whether PostgreSQL answers, and its record can be used', databaseUp],
    ['referrals_temporal_up', 'Whether Temporal answers', temporalUp],
  ] as const
  for (const [name, help, read] of gauges) registerGauge(registry, name, help, read)
}

/** Measures a request; `route` is the route's pattern, never the requested path. */
export type ObserveRequest = (
  labels: { method: string; route: string; status: number },
  seconds: number,
) => void

/** The API's metrics, in their own registry. */
export function createApiMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time until the API answered a request',
    labelNames: ['method', 'route', 'status'],
    // partners are promised an answer within two seconds
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5],
    registers: [registry],
  })
  const refusedConnections = new Counter({
    name: 'http_connections_refused_total',
    help: 'Connections closed without an answer because 1,000 were open',
    registers: [registry],
  })
  const observeRequest: ObserveRequest = (labels, seconds) => requests.observe(labels, seconds)
  return { registry, observeRequest, countRefusedConnection: () => refusedConnections.inc() }
}
