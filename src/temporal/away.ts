import {
  type Client,
  isGrpcCancelledError,
  isGrpcDeadlineError,
  isGrpcServiceError,
} from '@temporalio/client'
import type { TemporalSettings } from '../config.ts'
import { reasonOf } from '../fail.ts'
import { TASK_QUEUE } from './names.ts'

/** Canceled, deadline exceeded, unavailable. */
const CODES = [1, 4, 14]

/** Whether an error says that Temporal cannot be reached now, rather than what it answered. */
export function isTemporalAway(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isGrpcServiceError(cause)) return CODES.includes(cause.code)
  }
  return false
}

/**
 * Whether a call of a client was not answered by its deadline. The server has the same deadline: where its clock is ahead by
 * a moment, it cancels the call, and the client is told that, although nobody here canceled anything.
 */
export function isTimeUp(error: unknown): boolean {
  return isGrpcDeadlineError(error) || isGrpcCancelledError(error)
}

/** What to do about a Temporal that does not answer, in one line: the same in each program that meets it. */
export function unreachable(
  { connectionOptions: { address, tls } }: TemporalSettings,
  error: unknown,
): string {
  const how = tls
    ? 'TLS, as TEMPORAL_TLS, an API key or a certificate asks for'
    : 'plain text, without TEMPORAL_TLS'
  return `Temporal does not answer at ${address}: start it, or correct TEMPORAL_ADDRESS; the connection uses ${how} (${reasonOf(error)})`
}

const CALL_LIMIT_MS = 2000
/** A poll lasts a minute, so one that began no earlier than this is waiting, or is just being renewed. */
const FRESH_MS = 90_000
const SECOND_MS = 1000
const WORKFLOW_TASKS = 1

/**
 * Whether Temporal knows `identity` as a worker that asks for work: a process that is up and polls nothing
 * looks healthy from inside. Rejects while Temporal does not say.
 */
export async function isPolling(client: Client, identity: string): Promise<boolean> {
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
    const ours = pollers.filter((poller) => poller.identity === identity)
    const polledAt = ours.map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * SECOND_MS)
    return Math.max(0, ...polledAt) > Date.now() - FRESH_MS
  }

  return client.withDeadline(Date.now() + CALL_LIMIT_MS, async () => {
    const seen = await Promise.all((await partitions()).map(isSeenBy))
    return seen.includes(true)
  })
}
