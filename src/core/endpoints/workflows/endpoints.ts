import type { Client } from '@temporalio/client'
import { lookSignal } from '../../../../workflows/messages.ts'
import { endpointWorkflowId, TASK_QUEUE } from '../../temporal/names.ts'

/** The limit of a call while Temporal is away: the comparison starts what was skipped. */
const CALL_LIMIT_MS = 3000

/**
 * Starts the workflow that recovers an endpoint, unless it is running. A running one is told to check the record now, because
 * it may be waiting for its next probe; not with `quietly`.
 */
export type StartEndpoint = (endpointId: number, options?: { quietly?: boolean }) => Promise<void>

type Workflow = (endpointId: number) => Promise<unknown>

export function createEndpointStarter(client: Client): StartEndpoint {
  return async (endpointId, { quietly = false } = {}) => {
    const options = {
      workflowId: endpointWorkflowId(endpointId),
      taskQueue: TASK_QUEUE,
      args: [endpointId] as [number],
      workflowIdConflictPolicy: 'USE_EXISTING' as const,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
      staticSummary: `Endpoint ${endpointId}`,
    }
    await client.withDeadline(Date.now() + CALL_LIMIT_MS, async () => {
      if (quietly) await client.workflow.start<Workflow>('endpoint', options)
      else await client.workflow.signalWithStart<Workflow>('endpoint', { ...options, signal: lookSignal })
    })
  }
}
