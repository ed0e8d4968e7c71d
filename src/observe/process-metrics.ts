import { X509Certificate } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Gauge, type Registry } from 'prom-client'
import type { Build } from '../config.ts'
import type { PoolUse } from '../database/orm.ts'
import { clockAheadSeconds, type Sql } from '../database/sql.ts'
import { DAY_MS } from '../values.ts'

const CACHE_MS = 5000
/** Prometheus waits ten seconds for all metrics, and PostgreSQL may be away. */
const READ_LIMIT_MS = 2000

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

/** What `read` answers, for everyone who asks within five seconds; `undefined` when it fails or takes too long. */
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

/** The certificates that a process uses, in PEM, as it read them at its start. */
export type Certificates = Readonly<Record<string, string | Buffer | undefined>>

/** Registers in how many days each certificate ends: that of a chain's owner, which comes first. */
function registerCertificates(registry: Registry, certificates: Certificates): void {
  const ends = Object.entries(certificates).flatMap(([certificate, pem]) => {
    const at = pem === undefined ? undefined : endOf(pem)
    return at === undefined ? [] : [{ certificate, at }]
  })
  const gauge: Gauge = new Gauge({
    name: 'referrals_certificate_days_left',
    help: 'Days until a certificate of this process ends',
    labelNames: ['certificate'],
    registers: [registry],
    collect() {
      for (const { certificate, at } of ends) gauge.set({ certificate }, (at - Date.now()) / DAY_MS)
    },
  })
}

/** @returns `undefined` for what is no certificate: whoever uses it says so. */
function endOf(pem: string | Buffer): number | undefined {
  try {
    return Date.parse(new X509Certificate(pem).validTo)
  } catch {
    return undefined
  }
}

export interface DatabaseUse {
  sql: Sql
  pool: () => PoolUse
}

/** Registers how a process uses PostgreSQL: who waits for a connection, and how far the two clocks are apart. */
function registerDatabaseUse(registry: Registry, { sql, pool }: DatabaseUse): void {
  registerGauge(
    registry,
    'referrals_database_connections_waiting',
    'Statements of this process that wait for a connection',
    async () => pool().waiting,
  )
  const clock = cached(async () => clockAheadSeconds(sql))
  registerGauge(
    registry,
    'referrals_database_clock_difference_seconds',
    'How far the clock of this process is ahead of PostgreSQL’s',
    clock,
  )
}

/** Registers whether a process can work with PostgreSQL. */
export function registerDatabaseUp(registry: Registry, isDatabaseUp: () => Promise<boolean>): void {
  registerGauge(
    registry,
    'referrals_database_up',
    'Whether PostgreSQL answers this process, and its record can be used: 1 or 0',
    async () => ((await isDatabaseUp()) ? 1 : 0),
  )
}

/** What API and worker have in common. */
interface Process extends DatabaseUse {
  build: Build
  /** Rejects when Temporal does not answer this process. */
  reachTemporal: () => Promise<unknown>
  certificates: Certificates
}

/**
 * Names the build on every series, so that those of two builds that follow each other at one address stay apart. And
 * registers which build a process is, and how it stands with what it needs. Before everything that asks PostgreSQL: else
 * the reading itself would be seen to wait for connections.
 */
export function registerProcess(registry: Registry, process: Process): void {
  registry.setDefaultLabels({ build: process.build.build })
  registerBuild(registry, process.build)
  registerDatabaseUse(registry, process)
  registerTemporal(registry, process.reachTemporal)
  registerCertificates(registry, process.certificates)
}

function registerBuild(registry: Registry, build: Build): void {
  const gauge = new Gauge({
    name: 'referrals_build_info',
    help: 'Always 1: its labels say which build this process runs',
    labelNames: ['version', 'build', 'commit'],
    registers: [registry],
  })
  gauge.set({ ...build }, 1)
}

function registerTemporal(registry: Registry, reach: () => Promise<unknown>): void {
  const hasAnswered = cached(async () => reach().then(() => true))
  registerGauge(
    registry,
    'referrals_temporal_up',
    'Whether Temporal answers this process: 1 or 0',
    async () => ((await hasAnswered()) ? 1 : 0),
  )
}
