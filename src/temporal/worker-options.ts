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

/** Activities at a time that record, and as many that send webhooks and wait for endpoints. */
export const ACTIVITIES = 100
/** Workflows kept in memory, of about 0.5 MB each. */
const CACHED_WORKFLOWS = 500

const common = (settings: Version, taskQueue: string) => ({
  dataConverter: { payloadConverterPath },
  taskQueue,
  // above what a webhook may take, so that a deployment cuts none off
  shutdownGraceTime: LEASE_MS,
  shutdownForceTime: '30 seconds' as const,
  ...versioning(settings),
})

/** How much a worker does at a time, how it stops, and under which version it works. */
export const workerOptions = (settings: Version & Pick<Config<'worker'>, 'WORKER_WORKFLOW_TASKS'>) => ({
  ...common(settings, TASK_QUEUE),
  maxConcurrentWorkflowTaskExecutions: settings.WORKER_WORKFLOW_TASKS,
  maxConcurrentActivityTaskExecutions: ACTIVITIES,
  maxCachedWorkflows: CACHED_WORKFLOWS,
})

/** What sends webhooks: see `DELIVERIES_QUEUE`. */
export const deliveriesWorkerOptions = (settings: Version) => ({
  ...common(settings, DELIVERIES_QUEUE),
  maxConcurrentActivityTaskExecutions: ACTIVITIES,
})

/**
 * How many scores a worker asks for at a time. Those that are made up take the processor only, and from the milestones of
 * others.
 */
const SCORES = { ofProvider: 20, madeUp: 4 }
/** Temporal's own default. It is said, so that it takes the place of a former limit. */
const NO_LIMIT = 100_000

/** What asks the score provider: see `SCORES_QUEUE`. */
export const scoresWorkerOptions = (
  settings: Version & Pick<Config<'worker'>, 'SCORE_PROVIDER_RATE' | 'SCORE_PROVIDER_URL'>,
) => ({
  ...common(settings, SCORES_QUEUE),
  maxConcurrentActivityTaskExecutions:
    settings.SCORE_PROVIDER_URL === undefined ? SCORES.madeUp : SCORES.ofProvider,
  // the server keeps to it, for all workers together
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
