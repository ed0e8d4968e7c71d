import { fileURLToPath } from 'node:url'
import type { Config } from '../config.ts'
import { LEASE_MS } from '../deliveries/delivery-states.ts'
import { DELIVERIES_QUEUE, SCORES_QUEUE, TASK_QUEUE } from './names.ts'

// not its pathname, in which a space is %20
const fileOf = (path: string) => fileURLToPath(new URL(`../../workflows/${path}`, import.meta.url))

const payloadConverterPath = fileOf('sdk-hooks.ts')

/** What the workflows are bundled from, for a worker and for a replay: both must run the same. */
export const bundleOptions = {
  workflowsPath: fileOf('index.ts'),
  payloadConverterPath,
  workflowInterceptorModules: [fileOf('sdk-hooks.ts')],
  preloadModules: [fileOf('preloaded.ts')],
}

type Version = Pick<Config<'worker'>, 'TEMPORAL_WORKER_BUILD_ID'>

/** Concurrent activities of a worker on `referrals`, and as many on `deliveries`. */
export const ACTIVITIES = 100
/** Workflows kept in memory, of about 0.5 MB each. */
const CACHED_WORKFLOWS = 500

const common = (settings: Version, taskQueue: string) => ({
  dataConverter: { payloadConverterPath },
  taskQueue,
  // longer than a webhook may take, so that a deployment cuts none off
  shutdownGraceTime: LEASE_MS,
  shutdownForceTime: '30 seconds' as const,
  ...versioning(settings),
})

/** The worker of workflows and of what they record. */
export const workerOptions = (settings: Version & Pick<Config<'worker'>, 'WORKER_WORKFLOW_TASKS'>) => ({
  ...common(settings, TASK_QUEUE),
  maxConcurrentWorkflowTaskExecutions: settings.WORKER_WORKFLOW_TASKS,
  maxConcurrentActivityTaskExecutions: ACTIVITIES,
  maxCachedWorkflows: CACHED_WORKFLOWS,
})

/** The worker that sends webhooks: see `DELIVERIES_QUEUE`. */
export const deliveriesWorkerOptions = (settings: Version) => ({
  ...common(settings, DELIVERIES_QUEUE),
  maxConcurrentActivityTaskExecutions: ACTIVITIES,
})

/**
 * Concurrent score requests of a worker. Those to the sandbox's mock wait for nothing, and take processor time from
 * milestones.
 */
const SCORES = { ofProvider: 20, madeUp: 4 }
/** Temporal's own default, sent explicitly so that it replaces an earlier limit. */
const NO_LIMIT = 100_000

/** The worker that asks the score provider: see `SCORES_QUEUE`. */
export const scoresWorkerOptions = (
  settings: Version & Pick<Config<'worker'>, 'SCORE_PROVIDER_RATE' | 'SCORE_PROVIDER_URL'>,
) => ({
  ...common(settings, SCORES_QUEUE),
  maxConcurrentActivityTaskExecutions:
    settings.SCORE_PROVIDER_URL === undefined ? SCORES.madeUp : SCORES.ofProvider,
  // the server enforces it, for all workers together
  maxTaskQueueActivitiesPerSecond: settings.SCORE_PROVIDER_RATE || NO_LIMIT,
})

/** Leads outlive every version, so each continues with the current one at its next task. */
const versioning = ({ TEMPORAL_WORKER_BUILD_ID: buildId }: Version) =>
  buildId !== undefined && {
    workerDeploymentOptions: {
      version: { deploymentName: 'referrals', buildId },
      useWorkerVersioning: true as const,
      defaultVersioningBehavior: 'AUTO_UPGRADE' as const,
    },
  }
