import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker'
import type { Logger } from 'pino'
import { retryFor } from '../activities/activity-context.ts'
import { createActivities } from '../activities/index.ts'
import { ownLeadOnly } from '../activities/lead-record.ts'
import { type Build, type Config, type TemporalSettings } from './config.ts'
import { connect, patience } from './database/orm.ts'
import { databaseRemedy, findDatabaseFault, requireOwnRecord } from './database/readiness.ts'
import { sqlOf } from './database/sql.ts'
import { readBacklog } from './deliveries/backlog.ts'
import { fail, reasonOf } from './fail.ts'
import { createReferrals } from './leads/referrals.ts'
import { STARTS_IN_FLIGHT, sweepStarts } from './leads/sweep-starts.ts'
import { startHealthServer } from './observe/health.ts'
import { isUp, registerGauge, registerProcess } from './observe/process-metrics.ts'
import { countedFailures, createWorkerMetrics, registerBacklog } from './observe/worker-metrics.ts'
import { SealError } from './seal.ts'
import { unreachable } from './temporal/away.ts'
import { createTemporalClient, reachTemporal } from './temporal/client.ts'
import { TASK_QUEUE } from './temporal/names.ts'
import { keepSchedules, schedules } from './temporal/schedules.ts'
import { missingSearchAttributes } from './temporal/search-attributes.ts'
import { deliveriesWorkerOptions, scoresWorkerOptions, workerOptions } from './temporal/worker-options.ts'
import { workflowBundle } from './temporal/workflow-bundle.ts'

interface WorkerSettings {
  config: Config<'worker'>
  temporal: TemporalSettings
  build: Build
  log: Logger
}

/**
 * Starts the worker. Ends the process if it lacks what it needs.
 *
 * @returns `ready` resolves once it gets work, `ended` once work in flight has ended and all connections are closed.
 */
export async function runWorker({ config, temporal, build, log }: WorkerSettings) {
  const { namespace, connectionOptions } = temporal
  if (config.SMTP_URL === undefined) log.warn('no emails are sent: SMTP_URL is not set')
  log.info({ address: connectionOptions.address, namespace }, 'worker is starting')
  // the longest part of the start needs no connection, and meanwhile the servers may become ready
  const bundle = await workflowBundle()
  const servers = await connectToServers(config, temporal, log)
  const { client, sql, connection, orm } = servers
  const { registry, observe } = createWorkerMetrics(log)
  const referrals = createReferrals({ client, sql })
  const work = createActivities({ config, log, referrals, observe, ...servers })
  const counted = countedFailures((activity) => observe.activityFailed(activity))
  const interceptors = { activity: [counted, ownLeadOnly(sql)] }
  const create = async (options: WorkerOptions) =>
    Worker.create({ ...options, interceptors, connection, namespace }).catch((error: unknown) =>
      fail(`The worker cannot start: ${reasonOf(error)}`),
    )
  const { activities, deliveryActivities, scoreActivities } = work
  const main = await create({ ...workerOptions(config), workflowBundle: bundle, activities })
  const workers = [
    main,
    await create({ ...deliveriesWorkerOptions(config), activities: deliveryActivities }),
    await create({ ...scoresWorkerOptions(config), activities: scoreActivities }),
  ]

  // until a schedule's first run ends, its gauge says when this worker started
  for (const schedule of Object.keys(schedules)) observe.scheduleEnded(schedule)
  registerProcess(registry, {
    build,
    orm,
    findDatabaseFault: () => findDatabaseFault(sql),
    reachTemporal: () => reachTemporal(client),
  })
  registerBacklog(registry, () => readBacklog(sql))
  const findFault = () => findWorkerFault(client, main)
  const findSharedFault = async () => (await findFault()) ?? findDatabaseFault(sql)
  registerGauge(registry, 'referrals_worker_ready', 'Whether this worker works', isUp(findFault))
  const health = await startHealthServer(config, { findFault, findSharedFault, registry })

  const stopping = new AbortController()
  const { signal } = stopping
  const loops = [
    sweepStarts({ log, sql, referrals, inFlight: STARTS_IN_FLIGHT[config.ENVIRONMENT], signal }),
    keepSchedules(client, { log, signal }),
  ]
  const runs = Promise.all(workers.map((worker) => worker.run()))
  const running = Promise.race([runs, untilFailed(workers, signal)]).catch((error: unknown) =>
    fail(`The worker cannot continue: ${reasonOf(error)}`),
  )
  const ready = untilReady(main, findFault).then(() => {
    // the runbook resets the workflows that a bad build has worked on, by its id
    log.info({ task_queue: TASK_QUEUE, namespace, temporal_build: buildOf(main) }, 'worker is polling')
  })
  const close = async () => {
    stopping.abort()
    await Promise.all([...loops, work.close()])
    await Promise.all([health.close(), connection.close(), orm.close()])
    log.info('worker stopped')
  }
  const stop = () => {
    if (main.getState() !== 'RUNNING') return
    log.info('worker is stopping')
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
  }
  return { metricsPort: health.port, ready, ended: running.then(close), stop }
}

/**
 * Connects to Temporal and PostgreSQL, and checks what a worker needs there. Anything missing ends the process with one line
 * that says what to do. Without these checks, workflows and activities would fail one by one.
 */
async function connectToServers(config: Config<'worker'>, temporal: TemporalSettings, log: Logger) {
  // they may be starting too, and a migration may be running
  const patienceMs = config.STARTUP_SECONDS * 1000
  const connection = await retryFor(() => connectNative(temporal), patienceMs).catch((error: unknown) =>
    fail(unreachable(temporal, error)),
  )
  const orm = await connect(config.DATABASE_URL, patience.worker, config.DATABASE_POOL)
  const sql = sqlOf(orm)
  const record = () =>
    requireOwnRecord(sql, config).catch((error: unknown) => {
      // waiting does not add a key to this process
      if (error instanceof SealError) fail(error.message)
      throw error
    })
  const deploymentId = await retryFor(record, patienceMs).catch((error: unknown) =>
    fail(databaseRemedy(error)),
  )
  const deployment = async () => deploymentId
  // a worker would end the workflows of another deployment’s leads, so it ends itself
  const { client, guard } = createTemporalClient(temporal, { deployment, log, onOther: fail })
  const { namespace } = temporal
  const setUp = 'Run npm run setup-temporal, or set TEMPORAL_NAMESPACE'
  const requireNamespace = async () => {
    const missing = (await missingSearchAttributes(client.connection, namespace)).join(', ')
    if (missing !== '') fail(`Temporal’s namespace ${namespace} has no search attribute ${missing}. ${setUp}`)
    await guard()
  }
  // on a busy machine, Temporal may take longer than one call waits
  await retryFor(requireNamespace, patienceMs).catch((error: unknown) =>
    fail(`Temporal’s namespace ${namespace} cannot be used: ${reasonOf(error)}. ${setUp}`),
  )
  return { connection, orm, sql, client, deploymentId }
}

/** Without TLS, Temporal is nearby: compression costs more than it saves. */
const connectNative = ({ connectionOptions }: TemporalSettings) =>
  NativeConnection.connect({
    ...connectionOptions,
    ...(!connectionOptions.tls && { grpcCompression: { codec: 'none' } }),
  })

/** Why a worker gets no work. An outage of PostgreSQL is no reason: every worker has it. */
async function findWorkerFault(client: Client, worker: Worker): Promise<string | undefined> {
  const state = worker.getState()
  if (state !== 'RUNNING') return `the worker is ${state.toLowerCase()}`
  return reachTemporal(client).then(
    () => undefined,
    (error: unknown) => `Temporal does not answer (${reasonOf(error)})`,
  )
}

const CHECK_MS = 100

/** By then, `run` has rejected with the cause, if it ever does. */
const FAILED_MS = 1000

/** Waits until Temporal answers, or the worker stops. */
async function untilReady(worker: Worker, findFault: () => Promise<string | undefined>): Promise<void> {
  while (worker.getState() === 'RUNNING' && (await findFault()) !== undefined) await delay(CHECK_MS)
}

/** Rejects once a worker has failed: its `run` may never end, for example if Temporal lost the namespace. */
export async function untilFailed(workers: Pick<Worker, 'getState'>[], signal: AbortSignal): Promise<never> {
  const wait = () => delay(FAILED_MS, undefined, { signal })
  while (workers.every((worker) => worker.getState() !== 'FAILED')) await wait()
  await wait()
  throw new Error('Temporal’s SDK has failed, and the log says why')
}

/** The worker's build id in Temporal: without Worker Versioning, a hash of its workflows. */
function buildOf(worker: Worker): string {
  // the SDK sets `buildId`, which callers should not
  const { workerDeploymentOptions: versioning, buildId = '' } = worker.options as {
    workerDeploymentOptions?: { version: { buildId: string } }
    buildId?: string
  }
  return versioning?.version.buildId ?? buildId
}
