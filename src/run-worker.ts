import { Worker, type WorkerOptions } from '@temporalio/worker'
import type { Logger } from 'pino'
import { type Build, clientCertificate, type Config, type TemporalSettings } from './config.ts'
import { findDatabaseFault } from './database/readiness.ts'
import { readBacklog } from './deliveries/backlog.ts'
import { fail, reasonOf } from './fail.ts'
import { createReferrals } from './leads/referrals.ts'
import { STARTS_IN_FLIGHT, sweepStarts } from './leads/sweep-starts.ts'
import { startHealthServer } from './observe/health.ts'
import { registerProcess, registerUp } from './observe/process-metrics.ts'
import { countedFailures, createWorkerMetrics, registerBacklog } from './observe/worker-metrics.ts'
import { reachTemporal } from './temporal/client.ts'
import { TASK_QUEUE } from './temporal/names.ts'
import { watchNamespace } from './temporal/namespace-guard.ts'
import { keepSchedules, schedules } from './temporal/schedules.ts'
import { deliveriesWorkerOptions, scoresWorkerOptions, workerOptions } from './temporal/worker-options.ts'
import { workflowBundle } from './temporal/workflow-bundle.ts'
import { ownLeadOnly, workerActivities } from './worker-activities.ts'
import { connectToServers, findPollingFault, type Servers, untilPolling } from './worker-requirements.ts'

export interface WorkerSettings {
  config: Config<'worker'>
  temporal: TemporalSettings
  build: Build
  log: Logger
}

interface RunningWorker {
  metricsPort: number | undefined
  /** Once it polls. */
  ready: Promise<void>
  /** Once what was in flight has ended, and all connections are closed. */
  ended: Promise<void>
  stop: () => void
}

/** Starts the worker. Ends the process if it lacks what it needs. */
export async function runWorker(settings: WorkerSettings): Promise<RunningWorker> {
  const { config, log, temporal } = settings
  const { namespace } = temporal
  if (config.SMTP_URL === undefined) log.warn('no emails are sent: SMTP_URL is not set')
  log.info({ address: temporal.connectionOptions.address, namespace }, 'worker is starting')
  // the longest part of the start; it needs no connection, and meanwhile the servers may become ready
  const bundle = await workflowBundle()
  const servers = await connectToServers({ config, temporal, log })
  const { client, sql, guard, connection } = servers
  const { registry, observe } = createMetrics(settings, servers)
  const referrals = createReferrals({ client, sql })
  const work = workerActivities({ config, log, referrals, observe, ...servers })
  const counted = countedFailures((activity) => observe.activityFailed(activity))
  const interceptors = { activity: [counted, ownLeadOnly(sql)] }
  const create = async (options: WorkerOptions) =>
    Worker.create({ ...options, interceptors, connection, namespace }).catch((error: unknown) =>
      fail(`The worker cannot start: ${reasonOf(error)}`),
    )
  const main = await create({
    ...workerOptions(config),
    workflowBundle: bundle,
    activities: work.activities,
  })
  const workers = [
    main,
    await create({ ...deliveriesWorkerOptions(config), activities: work.deliveryActivities }),
    await create({ ...scoresWorkerOptions(config), activities: work.scoreActivities }),
  ]
  const shutDown = () => {
    for (const each of workers) if (each.getState() === 'RUNNING') each.shutdown()
  }

  const findFault = () => findPollingFault(client, main)
  const findSharedFault = async () => (await findFault()) ?? findDatabaseFault(sql)
  registerUp(registry, 'referrals_worker_ready', 'Whether this worker polls', findFault)
  const health = await startHealthServer(config, { findFault, findSharedFault, registry })
  const stopping = new AbortController()
  const { signal } = stopping
  const inFlight = STARTS_IN_FLIGHT[config.ENVIRONMENT]
  // the guard has logged why
  const onLost = () => {
    process.exitCode = 1
    shutDown()
  }
  const beside = [
    sweepStarts({ log, sql, referrals, inFlight, signal }),
    keepSchedules(client, { log, signal }),
    watchNamespace(guard, { signal, onLost }),
  ]
  const running = Promise.all(workers.map((worker) => worker.run())).catch((error: unknown) =>
    fail(`The worker cannot continue: ${reasonOf(error)}`),
  )

  const ready = untilPolling(client, main).then(() => {
    // by which the runbook resets the workflows on which a bad build has worked
    log.info({ task_queue: TASK_QUEUE, namespace, temporal_build: buildOf(main) }, 'worker is polling')
  })
  const close = async () => {
    stopping.abort()
    await Promise.all([...beside, work.close()])
    await Promise.all([health.close(), client.connection.close(), connection.close(), servers.orm.close()])
    log.info('worker stopped')
  }
  const stop = () => {
    if (main.getState() !== 'RUNNING') return
    log.info('worker is stopping')
    shutDown()
  }
  return { metricsPort: health.port, ready, ended: running.then(close), stop }
}

function createMetrics({ temporal, build, log }: WorkerSettings, servers: Servers) {
  const { orm, sql, client } = servers
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
  return { registry, observe }
}

/** Under which id Temporal knows the worker's build: without Worker Versioning, a hash of its workflows. */
function buildOf(worker: Worker): string {
  // set by the SDK, which wants nobody to set it
  const { workerDeploymentOptions: versioning, buildId = '' } = worker.options as {
    workerDeploymentOptions?: { version: { buildId: string } }
    buildId?: string
  }
  return versioning?.version.buildId ?? buildId
}
