import type { Client } from '@temporalio/client'
import type { endpoint } from '../../workflows/endpoint.ts'
import { endpointWorkflowId, TASK_QUEUE } from './names.ts'

/** How long a call may take while Temporal is away: the sweep starts what is left out. */
const CALL_LIMIT_MS = 3000

/**
 * Starts the workflow that brings an endpoint back to work. One that runs is told to look at the record now, as
 * it may be waiting for its next probe; `quietly` says nothing to it.
 */
export type StartEndpoint = (endpointId: number, options?: { quietly?: boolean }) => Promise<void>

export function createEndpointStarter(client: Client): StartEndpoint {
  return async (endpointId, { quietly = false } = {}) => {
    const options = {
      workflowId: endpointWorkflowId(endpointId),
      taskQueue: TASK_QUEUE,
      args: [endpointId] as Parameters<typeof endpoint>,
      workflowIdConflictPolicy: 'USE_EXISTING' as const,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
      staticSummary: `Endpoint ${endpointId}`,
    }
    await client.withDeadline(Date.now() + CALL_LIMIT_MS, async () => {
      if (quietly) await client.workflow.start('endpoint', options)
      else await client.workflow.signalWithStart('endpoint', { ...options, signal: 'look' })
    })
  }
}
