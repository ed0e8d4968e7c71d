import { type Client, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client'
import { closeSignal } from '../../../workflows/messages.ts'
import { isRepeated } from './failing-tasks.ts'
import { leadOf } from './names.ts'
import { resetPointOf } from './reset-point.ts'

/** A history of some thousand events comes in several pages. */
const CALL_LIMIT_MS = 30_000
const REASON = 'staff workflow repair'

/**
 * `reset`: it begins anew from before the build that worked on it last. `ended`: it was to be canceled, so it was
 * terminated. `recovered`: its task does not fail any more, it has ended, or this run holds nothing of the build.
 * `unbegun`: no task of it was ever completed, so there is nothing to take back.
 */
export type Repair = 'reset' | 'ended' | 'recovered' | 'unbegun'

/**
 * Resets a workflow whose task fails. The server hands the signals and updates that came since to the new run. All that
 * the new run does again is known to the record by its key, so nothing counts twice. Repeated, or run by two at a time, it
 * changes nothing more.
 *
 * @param build resets it to before the first task of this build, whether or not its task fails.
 */
export async function repair(client: Client, workflowId: string, build?: string): Promise<Repair> {
  try {
    return await client.withDeadline(Date.now() + CALL_LIMIT_MS, () => repairNow(client, workflowId, build))
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'recovered'
    throw error
  }
}

async function repairNow(client: Client, workflowId: string, build?: string): Promise<Repair> {
  const { status, runId, raw } = await client.workflow.getHandle(workflowId).describe()
  if (status.name !== 'RUNNING') return 'recovered'
  if (build === undefined && !isRepeated(raw.pendingWorkflowTask)) return 'recovered'
  const handle = client.workflow.getHandle(workflowId, runId)
  const { events } = await handle.fetchHistory()
  const point = resetPointOf(events ?? [], build)
  if (point === undefined) return build === undefined ? 'unbegun' : 'recovered'
  if (point.dropsCancellation) {
    if (leadOf(workflowId) === undefined) {
      await handle.terminate(REASON)
      return 'ended'
    }
    // before the reset: the new run gets signals, and not the cancellation
    await handle.signal(closeSignal, { reason: 'canceled' })
  }
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: point.eventId,
    reason: REASON,
    // the same for every repair of the same run
    requestId: `repair-${runId}`,
  })
  const isCanceled = (events ?? []).some((event) => event.workflowExecutionCancelRequestedEventAttributes)
  if (!isCanceled && (await wasCanceled(handle))) await client.workflow.getHandle(workflowId).cancel()
  return 'reset'
}

/** Meanwhile: between reading the history and the reset. */
async function wasCanceled(handle: WorkflowHandle): Promise<boolean> {
  const { raw } = await handle.describe()
  return raw.workflowExtendedInfo?.cancelRequested === true
}
