import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { Sql } from './core/database/sql.ts'
import { isPolling } from './core/temporal/polling.ts'
import { isTemporalAway } from './core/temporal/temporal-away.ts'
import { idleReason } from './core/temporal/worker-version.ts'
import { findDatabaseFault } from './database-fault.ts'
import { reasonOf } from './fail.ts'

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
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = config
  const version =
    deploymentName === undefined || buildId === undefined ? undefined : { deploymentName, buildId }
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
      const reason = await idleReason(client, version)
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
