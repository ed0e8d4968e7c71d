import { asyncLocalStorage } from '@temporalio/activity'

/** The workflow that an activity's line is about, by the ids that one pastes into the Web UI; none in a job. */
export function workflowFields(): { workflow_id?: string; run_id?: string } {
  const { workflowId, runId } = asyncLocalStorage.getStore()?.info.workflowExecution ?? {}
  return workflowId === undefined || runId === undefined ? {} : { workflow_id: workflowId, run_id: runId }
}

/** Milliseconds since `began`, on the monotonic clock. */
export const millisecondsSince = (began: number) => Math.round((performance.now() - began) * 10) / 10
