import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { NativeConnection } from '@temporalio/worker'
import type { Logger } from 'pino'
import { retryFor } from '../activities/activity-context.ts'
import type { Config, TemporalSettings } from './config.ts'
import { databaseRemedy, findDatabaseFault, requireServiceLogin } from './database/readiness.ts'
import { requireDeployment } from './database/deployment.ts'
import { connect, workerPatience } from './database/orm.ts'
import { otherSchema } from './database/schema.ts'
import { reachDatabase, type Sql, sqlOf } from './database/sql.ts'
import { fail, failIfOtherEnvironment, reasonOf } from './fail.ts'
import { lackingKeys } from './seal.ts'
import { isPolling, isTemporalAway } from './temporal/away.ts'
import { createTemporalClient } from './temporal/client.ts'
import { type NamespaceGuard, OtherDeployment } from './temporal/namespace-guard.ts'
import { setUpNamespace, unreachable, unusableNamespace } from './temporal/outage.ts'
import { missingSearchAttributes } from './temporal/search-attributes.ts'
import { idleReason } from './temporal/worker-options.ts'

interface Settings {
  config: Config<'worker'>
  temporal: TemporalSettings
  log: Logger
}

export type Servers = Awaited<ReturnType<typeof connectToServers>>

/**
 * Temporal and PostgreSQL, with all that a worker needs there. What is missing ends the process with one line that says what
 * to do: without these checks, it would show as workflows and activities that fail one by one.
 */
export async function connectToServers({ config, temporal, log }: Settings) {
  // they may be starting too, and a migration may be running
  const patienceMs = config.STARTUP_SECONDS * 1000
  const connection = await retryFor(() => connectNative(temporal), patienceMs).catch((error: unknown) =>
    fail(unreachable(temporal, error)),
  )
  const orm = await connect(config.DATABASE_URL, workerPatience, { connections: config.DATABASE_POOL })
  const sql = sqlOf(orm)
  const deploymentId = await retryFor(() => requireRecord(sql, config), patienceMs).catch((error: unknown) =>
    fail(error instanceof OtherSchema ? error.message : databaseRemedy(error)),
  )
  const { client, guard } = createTemporalClient(temporal, { deployment: async () => deploymentId, log })
  await requireNamespace(client, guard)
  return { connection, orm, sql, client, guard, deploymentId }
}

/** Without TLS, Temporal is nearby: compression costs more than it saves. */
const connectNative = ({ connectionOptions }: TemporalSettings) =>
  NativeConnection.connect({
    ...connectionOptions,
    ...(!connectionOptions.tls && { grpcCompression: { codec: 'none' } }),
  })

class OtherSchema extends Error {}

/** @returns the deployment's id. */
async function requireRecord(sql: Sql, config: Config<'worker'>): Promise<string> {
  await reachDatabase(sql)
  await requireServiceLogin(sql, config)
  const remedy = await otherSchema(sql)
  if (remedy !== undefined) throw new OtherSchema(remedy)
  const id = await requireDeployment(sql, config.ENVIRONMENT).catch(failIfOtherEnvironment)
  const missingKey = await lackingKeys(sql, config.ENCRYPTION_KEY)
  if (missingKey !== undefined) fail(missingKey)
  return id
}

/** Requires a namespace that belongs to this deployment and has every search attribute. */
async function requireNamespace(client: Client, guard: NamespaceGuard): Promise<void> {
  const { namespace } = client.options
  try {
    const missing = await missingSearchAttributes(client.connection, namespace)
    if (missing.length === 0) return await guard()
    fail(`Temporal’s namespace ${namespace} has no search attribute ${missing.join(', ')}. ${setUpNamespace}`)
  } catch (error) {
    fail(error instanceof OtherDeployment ? error.message : unusableNamespace(namespace, error))
  }
}

const POLL_CHECK_MS = 100
/** How often a worker that is not ready yet says what it waits for. */
const WAITING_LOG_MS = 5000

interface Options {
  config: Config<'worker'>
  log: Logger
  sql: Sql
  client: Client
  worker: { getState(): string; options: { identity: string } }
}

/** What keeps a worker from getting work: running is not enough. */
export function workerReadiness({ config, log, sql, client, worker }: Options) {
  /** Said in the log: no version lets this worker work. */
  let isIdle = false

  async function findPollingFault(): Promise<string | undefined> {
    const state = worker.getState()
    if (state !== 'RUNNING') return `the worker is ${state.toLowerCase()}`
    return isPolling(client, worker.options.identity).then(
      (polls) => (polls ? undefined : 'Temporal answers, but this worker has not polled'),
      (error: unknown) => silenceOf(error, 'whether this worker polls'),
    )
  }

  async function findIdleVersion(): Promise<string | undefined> {
    try {
      const reason = await idleReason(client, config)
      if (reason !== undefined && !isIdle) log.warn(reason)
      isIdle = reason !== undefined
      return reason
    } catch (error) {
      return silenceOf(error, 'whether this worker’s version gets work')
    }
  }

  const findFault = async () => (await findPollingFault()) ?? findIdleVersion()
  return {
    findIdleVersion,
    findFault,
    /** Also that PostgreSQL is away, which it is for all workers: readiness does not say so. */
    findSharedFault: async () => (await findFault()) ?? findDatabaseFault(sql),

    /** Temporal may be away, or take a while to see a new worker poll, which would look like one that hangs. */
    async untilPolling(): Promise<void> {
      let saidAt = performance.now()
      while (worker.getState() === 'RUNNING') {
        const fault = await findPollingFault()
        if (fault === undefined) return
        if (performance.now() - saidAt > WAITING_LOG_MS) {
          saidAt = performance.now()
          log.info({ waits_for: fault }, 'worker is not ready yet')
        }
        await delay(POLL_CHECK_MS)
      }
    },
  }
}

/** A worker of which Temporal says nothing is not known to work. */
function silenceOf(error: unknown, what: string): string {
  return isTemporalAway(error)
    ? 'Temporal does not answer'
    : `Temporal does not say ${what} (${reasonOf(error)})`
}
