import type { Client } from '@temporalio/client'
import { TASK_QUEUE } from './names.ts'

const CALL_LIMIT_MS = 2000
/** A poll lasts a minute, so one that began no earlier than this is waiting, or is just being renewed. */
const FRESH_MS = 90_000
const SECOND_MS = 1000
const WORKFLOW_TASKS = 1

/**
 * Whether Temporal knows `identity` as a worker that asks for work: a process that is up and polls nothing
 * looks healthy from inside. Without an identity, any worker counts. Rejects while Temporal does not say.
 */
export async function isPolling(client: Client, identity?: string): Promise<boolean> {
  const { namespace } = client.options
  const { workflowService } = client

  /** A cluster divides a task queue into partitions, and each knows only those who poll that one. */
  const partitions = async (): Promise<string[]> => {
    const request = { namespace, taskQueue: { name: TASK_QUEUE } }
    const { workflowTaskQueuePartitions: all } = await workflowService.listTaskQueuePartitions(request)
    return all.map(({ key }) => key ?? TASK_QUEUE)
  }

  const isSeenBy = async (name: string): Promise<boolean> => {
    const request = { namespace, taskQueue: { name }, taskQueueType: WORKFLOW_TASKS }
    const { pollers } = await workflowService.describeTaskQueue(request)
    const ours = pollers.filter((poller) => identity === undefined || poller.identity === identity)
    const polledAt = ours.map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * SECOND_MS)
    return Math.max(0, ...polledAt) > Date.now() - FRESH_MS
  }

  return client.withDeadline(Date.now() + CALL_LIMIT_MS, async () => {
    const seen = await Promise.all((await partitions()).map(isSeenBy))
    return seen.includes(true)
  })
}
