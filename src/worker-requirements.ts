import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { NativeConnection } from '@temporalio/worker'
import type { Logger } from 'pino'
import { retryFor } from '../activities/activity-context.ts'
import type { Config, TemporalSettings } from './config.ts'
import { databaseRemedy, requireServiceLogin } from './database/readiness.ts'
import { requireDeployment } from './database/deployment.ts'
import { connect, workerPatience } from './database/orm.ts'
import { otherSchema } from './database/schema.ts'
import { reachDatabase, type Sql, sqlOf } from './database/sql.ts'
import { fail, failIfOtherEnvironment, reasonOf } from './fail.ts'
import { lackingKeys } from './seal.ts'
import { isPolling } from './temporal/away.ts'
import { createTemporalClient } from './temporal/client.ts'
import { OtherDeployment } from './temporal/namespace-guard.ts'
import { setUpNamespace, unreachable, unusableNamespace } from './temporal/outage.ts'
import { missingSearchAttributes } from './temporal/search-attributes.ts'

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
  const { namespace } = temporal
  try {
    const missing = await missingSearchAttributes(client.connection, namespace)
    if (missing.length > 0)
      fail(
        `Temporal’s namespace ${namespace} has no search attribute ${missing.join(', ')}. ${setUpNamespace}`,
      )
    await guard()
  } catch (error) {
    fail(error instanceof OtherDeployment ? error.message : unusableNamespace(namespace, error))
  }
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

interface PollingWorker {
  getState(): string
  options: { identity: string }
}

/** Why a worker gets no work: running is not enough. That PostgreSQL is away is no reason, as it is for all workers. */
export async function findPollingFault(client: Client, worker: PollingWorker): Promise<string | undefined> {
  const state = worker.getState()
  if (state !== 'RUNNING') return `the worker is ${state.toLowerCase()}`
  return isPolling(client, worker.options.identity).then(
    (polls) => (polls ? undefined : 'Temporal answers, but this worker has not polled'),
    (error: unknown) => `Temporal does not say whether this worker polls (${reasonOf(error)})`,
  )
}

const POLL_CHECK_MS = 100

/** Temporal may be away, or take a while to see a new worker poll, which would look like one that hangs. */
export async function untilPolling(client: Client, worker: PollingWorker): Promise<void> {
  while (worker.getState() === 'RUNNING' && (await findPollingFault(client, worker)) !== undefined)
    await delay(POLL_CHECK_MS)
}
