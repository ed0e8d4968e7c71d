import type { Client } from '@temporalio/client'
import { TASK_QUEUE } from './names.ts'

const CALL_LIMIT_MS = 2000
/** A poll lasts a minute, so one that began no earlier than this is waiting, or is just being renewed. */
const FRESH_MS = 90_000
const SECOND_MS = 1000
const WORKFLOW_TASKS = 1

/**
 * Whether Temporal knows `identity` as a worker that asks for work: a process that is up and polls nothing
 * looks healthy from inside. Without an identity, any worker counts. False while Temporal is away.
 */
export async function isPolling(client: Client, identity?: string): Promise<boolean> {
  const { namespace } = client.options
  const ask = () =>
    client.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: TASK_QUEUE },
      taskQueueType: WORKFLOW_TASKS,
    })
  try {
    const { pollers } = await client.withDeadline(Date.now() + CALL_LIMIT_MS, ask)
    const ours = (pollers ?? []).filter((poller) => identity === undefined || poller.identity === identity)
    const polledAt = ours.map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * SECOND_MS)
    return Math.max(0, ...polledAt) > Date.now() - FRESH_MS
  } catch {
    return false
  }
}
