import type { Client } from '@temporalio/client'
import { endpointWorkflowId, TASK_QUEUE } from './names.ts'

/** How long a call may take while Temporal is away: the sweep starts what is left out. */
const CALL_LIMIT_MS = 3000

/** Starts the workflow that brings an endpoint back to work, unless it runs. */
export type StartEndpoint = (endpointId: number) => Promise<void>

export function createEndpointStarter(client: Client): StartEndpoint {
  return async (endpointId) => {
    await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
      client.workflow.start('endpoint', {
        workflowId: endpointWorkflowId(endpointId),
        taskQueue: TASK_QUEUE,
        args: [endpointId],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        staticSummary: `Endpoint ${endpointId}`,
      }),
    )
  }
}
