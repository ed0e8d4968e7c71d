import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import type { replay } from '../../../../workflows/replay.ts'
import type { ReplayFilter } from '../statements/replays.ts'
import { replayId, TASK_QUEUE } from '../../temporal/names.ts'

const CALL_LIMIT_MS = 4000

/**
 * Starts to send a partner's settled webhooks once more.
 *
 * @returns the workflow's id; `undefined` when a replay of this partner is under way.
 */
export async function startReplay(
  client: Client,
  filter: ReplayFilter,
  total: number,
): Promise<string | undefined> {
  const workflowId = replayId(filter.partnerId)
  const progress = { total, delivered: 0, failed: 0, at: { leadId: 0, sequence: 0 } }
  try {
    await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
      client.workflow.start<typeof replay>('replay', {
        workflowId,
        taskQueue: TASK_QUEUE,
        args: [filter, progress],
        workflowIdConflictPolicy: 'FAIL',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        staticSummary: `Replay of partner ${filter.partnerId}: ${total} webhooks`,
      }),
    )
    return workflowId
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined
    throw error
  }
}
