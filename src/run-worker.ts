import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker'
import type { Logger } from 'pino'
import {
  countedFailures,
  createWorkerMetrics,
  registerBacklog,
  type WorkerObserver,
} from './observe/worker-metrics.ts'
import { type Build, clientCertificate, type Config, type TemporalSettings } from './config.ts'
import { connect, workerPatience } from './database/orm.ts'
import { type Sql, sqlOf } from './database/sql.ts'
import { readBacklog } from './deliveries/backlog.ts'
import { createSender } from './webhooks/send.ts'
import { createEndpointStarter } from './endpoints/endpoint-workflows.ts'
import { createReferrals } from './leads/referrals.ts'
import { sweepStarts } from './leads/sweep-starts.ts'
import { createTemporalClient, reachTemporal } from './temporal/client.ts'
import { TASK_QUEUE } from './temporal/names.ts'
import { watchNamespace } from './temporal/namespace-guard.ts'
import { keepSchedules, schedules } from './temporal/schedules.ts'
import { deliveriesWorkerOptions, scoresWorkerOptions, workerOptions } from './temporal/worker-options.ts'
import { findDatabaseFault } from './database/readiness.ts'
import { fail, reasonOf } from './fail.ts'
import { startHealthServer } from './observe/health.ts'
import { registerProcess, registerUp } from './observe/process-metrics.ts'
import { mailerOf, ownLeadOnly, workerActivities } from './worker-activities.ts'
import type { TemporalOutage } from './temporal/outage.ts'
import {
  connectToTemporal,
  requireDatabase,
  requireNamespace,
  workerReadiness,
} from './worker-requirements.ts'
import { workflowBundle } from './temporal/workflow-bundle.ts'

interface RunningWorker {
  metricsPort: number | undefined
  /** Once what was in flight has ended, and all connections are closed. */
  ended: Promise<void>
}

/** Starts the worker and waits until it polls. Ends the process if it lacks what it needs. */
export async function runWorker(settings: WorkerSettings): Promise<RunningWorker> {
  const { config, log, temporal, stopWith } = settings
  if (config.SMTP_URL === undefined) log.warn('no emails are sent: SMTP_URL is not set')
  const { connectionOptions, namespace } = temporal
  log.info({ address: connectionOptions.address, namespace }, 'worker is starting')
  // the longest part of the start; it needs no connection, and meanwhile the servers may become ready
  const bundle = await workflowBundle()
  const servers = await connectToServers(settings)
  settings.outage?.askWith(() => reachTemporal(servers.client))
  const { client, guard } = servers
  const tools = createTools(settings, servers)
  const work = workerActivities({ config, log, ...servers, ...tools })
  const workers = await createWorkers(settings, servers.connection, {
    bundle,
    ...work,
    sql: servers.sql,
    observe: tools.observe,
  })
  const readiness = workerReadiness({ config, log, ...servers, worker: workers.main })
  registerUp(
    tools.registry,
    'referrals_worker_ready',
    'Whether this worker polls and gets work',
    readiness.findFault,
  )
  const health = await startHealthServer(config, {
    findFault: readiness.findFault,
    findSharedFault: readiness.findSharedFault,
    registry: tools.registry,
  })

  const stopping = new AbortController()
  const { signal } = stopping
  const beside = [
    sweepStarts({ log, ...servers, ...tools, inFlight: config.STARTS_IN_FLIGHT, signal }),
    keepSchedules(client, { log, signal }),
    watchNamespace(guard, { signal, onLost: () => stopOnLoss(workers) }),
  ]
  stopWith(() => {
    if (workers.main.getState() !== 'RUNNING') return
    log.info('worker is stopping')
    shutDown(workers)
  })
  const running = run(workers)
  await readiness.untilPolling()
  const polling = { task_queue: TASK_QUEUE, namespace: temporal.namespace }
  // by which the runbook resets the workflows on which a bad build has worked
  log.info({ ...polling, temporal_build: buildOf(workers.main) }, 'worker is polling')
  await readiness.findIdleVersion()
  return { metricsPort: health.port, ended: running.then(close) }

  async function close(): Promise<void> {
    stopping.abort()
    await Promise.all([...beside, work.settled()])
    await Promise.all([
      tools.sender.close(),
      health.close(),
      client.connection.close(),
      servers.connection.close(),
      servers.orm.close(),
    ])
    log.info('worker stopped')
  }
}

/** Under which id Temporal knows the worker's build: without Worker Versioning, a hash of its workflows. */
function buildOf(worker: Worker): string {
  // set by the SDK, which wants nobody to set it
  const { workerDeploymentOptions: versioning, buildId } = worker.options as Builds
  return versioning?.version.buildId ?? buildId ?? ''
}

interface Builds {
  workerDeploymentOptions?: { version: { buildId: string } }
  buildId?: string
}

export interface WorkerSettings {
  config: Config<'worker'>
  temporal: TemporalSettings
  build: Build
  log: Logger
  outage?: TemporalOutage
  /** Gets what ends it, once it runs. */
  stopWith: (stop: () => void) => void
}

/** Temporal and PostgreSQL; ends the process if one of them lacks what the worker needs. */
async function connectToServers({ config, temporal, log }: WorkerSettings) {
  const connection = await connectToTemporal(temporal, config)
  const orm = await connect(config.DATABASE_URL, workerPatience, { connections: config.DATABASE_POOL })
  const sql = sqlOf(orm)
  const deploymentId = await requireDatabase(sql, config)
  const { client, guard } = createTemporalClient(temporal, { deployment: async () => deploymentId, log })
  await requireNamespace(client, guard)
  return { connection, orm, sql, client, guard, deploymentId }
}

type Servers = Awaited<ReturnType<typeof connectToServers>>

/** What both activities and jobs use. */
function createTools({ config, temporal, build, log }: WorkerSettings, servers: Servers) {
  const { orm, sql, client, deploymentId } = servers
  const { registry, observe } = createWorkerMetrics(log)
  // before the first end, that of its start
  for (const schedule of Object.keys(schedules)) observe.scheduleEnded(schedule)
  registerProcess(registry, {
    build,
    orm,
    findDatabaseFault: () => findDatabaseFault(sql),
    reachTemporal: () => reachTemporal(client),
    certificates: { temporal_client: clientCertificate(temporal) },
  })
  registerBacklog(registry, () => readBacklog(sql))
  return {
    referrals: createReferrals({ client, sql }),
    startEndpoint: createEndpointStarter(client),
    sender: createSender({
      environment: config.ENVIRONMENT,
      allowPrivateNetwork: config.WEBHOOK_ALLOW_PRIVATE_NETWORK,
    }),
    mailer: mailerOf(config, deploymentId, { observe, log }),
    registry,
    observe,
  }
}

type Work = Pick<
  ReturnType<typeof workerActivities>,
  'activities' | 'deliveryActivities' | 'scoreActivities'
> & {
  bundle: Awaited<ReturnType<typeof workflowBundle>>
  sql: Sql
  observe: Pick<WorkerObserver, 'activityFailed'>
}

interface Workers {
  main: Worker
  /** With those of activities that have a task queue of their own. */
  all: readonly Worker[]
}

async function createWorkers(
  { config, temporal }: WorkerSettings,
  connection: NativeConnection,
  { bundle, activities, deliveryActivities, scoreActivities, sql, observe }: Work,
): Promise<Workers> {
  const interceptors = { activity: [countedFailures(observe.activityFailed), ownLeadOnly(sql)] }
  const create = async (options: WorkerOptions) =>
    Worker.create({ ...options, interceptors, connection, namespace: temporal.namespace }).catch(
      (error: unknown) => fail(`The worker cannot start: ${reasonOf(error)}`),
    )
  const worker = await create({ ...workerOptions(config), workflowBundle: bundle, activities })
  const all = [
    worker,
    await create({ ...deliveriesWorkerOptions(config), activities: deliveryActivities }),
    await create({ ...scoresWorkerOptions(config), activities: scoreActivities }),
  ]
  return { main: worker, all }
}

async function run({ all }: Workers): Promise<void> {
  await Promise.all(all.map((worker) => worker.run())).catch((error: unknown) =>
    fail(`The worker cannot continue: ${reasonOf(error)}`),
  )
}

function shutDown({ all }: Workers): void {
  for (const each of all) if (each.getState() === 'RUNNING') each.shutdown()
}

/** The guard has logged why. */
function stopOnLoss(workers: Workers): void {
  process.exitCode = 1
  shutDown(workers)
}
