import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import { listWorkflows } from './list-workflows.ts'

const CALL_LIMIT_MS = 5000
/** Of a query: the visibility store takes them all. */
const RUNS_PER_QUERY = 50

interface Run {
  workflowId: string
  runId: string
}

/** Whether the run waits for a workflow task that failed before. False once it has ended. */
export async function isTaskFailing(client: Client, { workflowId, runId }: Run): Promise<boolean> {
  try {
    const describe = () => client.workflow.getHandle(workflowId, runId).describe()
    const { status, raw } = await client.withDeadline(Date.now() + CALL_LIMIT_MS, describe)
    return status.name === 'RUNNING' && isRepeated(raw.pendingWorkflowTask)
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false
    throw error
  }
}

/** The server counts a task's attempts from 1. */
export function isRepeated(task: { attempt?: number | null } | null | undefined): boolean {
  return (task?.attempt ?? 0) > 1
}

/** The workflows of runs that are running, by run. The visibility store may be slightly behind. */
export async function findRuns(
  client: Client,
  runIds: readonly string[],
): Promise<Map<string, Run & { type: string }>> {
  const found = new Map<string, Run & { type: string }>()
  for (let from = 0; from < runIds.length; from += RUNS_PER_QUERY) {
    const ids = runIds.slice(from, from + RUNS_PER_QUERY).map((id) => `'${id}'`)
    const query = `RunId IN (${ids.join(', ')}) AND ExecutionStatus = 'Running'`
    for await (const { workflowId, runId, type } of listWorkflows(client, query))
      found.set(runId, { workflowId, runId, type })
  }
  return found
}
