import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { NativeConnection } from '@temporalio/worker'
import type { Logger } from 'pino'
import { retryFor } from '../activities/activity-context.ts'
import type { Config, TemporalSettings } from './config.ts'
import { requireDeployment } from './database/deployment.ts'
import { databaseRemedy, findDatabaseFault, requireServiceLogin } from './database/readiness.ts'
import { otherSchema } from './database/schema.ts'
import { isReachable, type Sql } from './database/sql.ts'
import { fail, failIfOtherEnvironment, reasonOf } from './fail.ts'
import { lackingKeys } from './seal.ts'
import { isPolling, isTemporalAway } from './temporal/away.ts'
import { type NamespaceGuard, OtherDeployment } from './temporal/namespace-guard.ts'
import { setUpNamespace, unreachable, unusableNamespace } from './temporal/outage.ts'
import { missingSearchAttributes } from './temporal/search-attributes.ts'
import { idleReason } from './temporal/worker-options.ts'

// What a worker needs before it starts. Each check ends the process with one line that says what to do; without it,
// the fault would show as workflows and activities that fail one by one.

/** Temporal and PostgreSQL may be starting too, and a migration may be running. */
const patienceMs = ({ STARTUP_SECONDS: seconds }: Config<'worker'>) => seconds * 1000

export async function connectToTemporal(
  temporal: TemporalSettings,
  config: Config<'worker'>,
): Promise<NativeConnection> {
  const { connectionOptions } = temporal
  // without TLS, Temporal is nearby: compression costs more than it saves
  const near = connectionOptions.tls ? {} : { grpcCompression: { codec: 'none' as const } }
  const connectOnce = () => NativeConnection.connect({ ...connectionOptions, ...near })
  return retryFor(connectOnce, patienceMs(config)).catch(async (error: unknown) =>
    fail(unreachable(temporal, error)),
  )
}

/** @returns the deployment's id. */
export async function requireDatabase(sql: Sql, config: Config<'worker'>): Promise<string> {
  const retried = <Found>(find: () => Promise<Found>): Promise<Found> =>
    retryFor(find, patienceMs(config)).catch((error: unknown) => fail(databaseRemedy(error)))
  await retried(() => isReachable(sql))
  await retried(() => requireServiceLogin(sql, config))
  const requireSchema = async () => {
    const remedy = await otherSchema(sql)
    if (remedy !== undefined) throw new Error(remedy)
  }
  await retryFor(requireSchema, patienceMs(config)).catch((error: unknown) => fail(reasonOf(error)))
  const id = await retried(() => requireDeployment(sql, config.ENVIRONMENT).catch(failIfOtherEnvironment))
  const remedy = await retried(() => lackingKeys(sql, config.ENCRYPTION_KEY))
  if (remedy !== undefined) fail(remedy)
  return id
}

/** Requires a namespace that belongs to this deployment and has every search attribute. */
export async function requireNamespace(client: Client, guard: NamespaceGuard): Promise<void> {
  const { namespace } = client.options
  const failUnusable = (error: unknown): never =>
    fail(error instanceof OtherDeployment ? error.message : unusableNamespace(namespace, error))
  const missing = await missingSearchAttributes(client.connection, namespace).catch(failUnusable)
  if (missing.length > 0)
    fail(`Temporal’s namespace ${namespace} has no search attribute ${missing.join(', ')}. ${setUpNamespace}`)
  await guard().catch(failUnusable)
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

/** What keeps a worker from getting work. */
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

  /** Running is not enough: it is ready once it polls, and gets work. */
  const findFault = async () => (await findPollingFault()) ?? findIdleVersion()

  return {
    findFault,

    /** Also that PostgreSQL is away, which it is for all workers: readiness does not say so. */
    findSharedFault: async () => (await findFault()) ?? findDatabaseFault(sql),

    findIdleVersion,

    /** Temporal may be away, or take a while to see a new worker poll, which would look like one that hangs. */
    async untilPolling(): Promise<void> {
      let saidAt = performance.now()
      for (;;) {
        const fault = worker.getState() === 'RUNNING' ? await findPollingFault() : undefined
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
