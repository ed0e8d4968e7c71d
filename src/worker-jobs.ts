import type { Client } from '@temporalio/client'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { restoresLeftOut } from './capabilities/restore/worker.ts'
import { keepRetention } from './capabilities/retention/retention-loop.ts'
import { runsLeftOut } from './capabilities/sandbox/worker.ts'
import { requestsLeftOut } from './capabilities/self-service/worker.ts'
import type { Config } from './config.ts'
import type { Sql } from './core/database/orm.ts'
import { resendsLeftOut } from './core/deliveries/worker.ts'
import { createResendStarter } from './core/deliveries/workflows/resend.ts'
import { dueIncidents, endpointsLeftOut } from './core/endpoints/worker.ts'
import type { StartEndpoint } from './core/endpoints/workflows/endpoints.ts'
import { keepForgetting } from './core/leads/forgetting-loop.ts'
import { unstarted } from './core/leads/worker.ts'
import { keepReconciled } from './core/leads/workflows/reconcile-loop.ts'
import type { Referrals } from './core/leads/workflows/referrals.ts'
import { noteAlive } from './core/record/statements/alive.ts'
import { sweep } from './core/temporal/sweep.ts'
import { watchLoops, type WatchLoop } from './metrics/loops.ts'
import type { WorkerObserver } from './metrics/worker.ts'
import { retained } from './retained.ts'

interface Options {
  config: Config<'worker'>
  log: Logger
  sql: Sql
  client: Client
  referrals: Referrals
  startEndpoint: StartEndpoint
  observe: WorkerObserver
  registry: Registry
  signal: AbortSignal
}

/** What runs beside the workflows, until `signal` aborts. */
export async function runJobs(given: Options): Promise<void> {
  const { registry } = given
  const options = { ...given, watchLoop: watchLoops(registry) }
  const jobs: Promise<void>[] = [
    keepSwept(options),
    keepReconciled(options),
    // by room
    keepForgetting(options),
    keepRetention({ ...options, retained }),
  ]
  await Promise.all(jobs)
}

async function keepSwept(options: Options & { watchLoop: WatchLoop }): Promise<void> {
  const { config, log, sql, client, referrals, startEndpoint, observe, signal, watchLoop } = options
  await sweep({
    sql,
    swept: [
      unstarted(referrals, config.STARTS_IN_FLIGHT),
      endpointsLeftOut(startEndpoint),
      resendsLeftOut(createResendStarter(client)),
      restoresLeftOut(client),
      ...requestsLeftOut(client),
      ...runsLeftOut({ client, sql, log }),
    ],
    chores: [
      // after a restore, it says since when events may be lost
      () => noteAlive(sql),
      dueIncidents(sql, observe),
    ],
    log,
    signal,
    watchLoop,
  })
}
