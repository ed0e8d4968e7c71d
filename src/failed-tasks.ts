import type { EventEmitter } from 'node:events'
import { Worker } from '@temporalio/worker'
import { EvictionReason, type RemoveFromCache } from '@temporalio/worker/lib/replay.js'
import type { FailedTasks } from './core/temporal/failed-tasks.ts'

/** The SDK emits these for its own replays, and declares them protected. */
class Evicting extends Worker {
  declare readonly evictionsEmitter: EventEmitter
}

interface Eviction {
  runId: string
  evictJob: RemoveFromCache
}

/** Under which id Temporal knows the worker's build: without Worker Versioning, a hash of its workflows. */
export function buildOf(worker: Worker): string {
  // set by the SDK, which wants nobody to set it
  const { workerDeploymentOptions: versioning, buildId } = worker.options as Builds
  return versioning?.version.buildId ?? buildId ?? ''
}

interface Builds {
  workerDeploymentOptions?: { version: { buildId: string } }
  buildId?: string
}

/**
 * Notes each workflow task of `worker` that fails, by its run. After every failure, the worker evicts the workflow; the
 * SDK logs only a task's first failure, and the server keeps only that one in the history.
 */
export function watchFailedTasks(worker: Worker, failed: FailedTasks): void {
  const { evictionsEmitter } = worker as Evicting
  evictionsEmitter.on('eviction', ({ runId, evictJob: { reason, message } }: Eviction) => {
    if (reason === EvictionReason.NONDETERMINISM || reason === EvictionReason.LANG_FAIL)
      failed.note(runId, message ?? '')
  })
}
