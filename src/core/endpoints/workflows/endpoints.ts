import type { Client } from '@temporalio/client'
import { lookSignal } from '../../../../workflows/messages.ts'
import { ensureRunning } from '../../temporal/ensure-running.ts'
import { endpointWorkflowId } from '../../temporal/names.ts'

/**
 * Starts the workflow that recovers an endpoint. A running one is told to check the record now, because it may be
 * waiting for its next probe; not with `quietly`.
 */
export type StartEndpoint = (endpointId: number, options?: { quietly?: boolean }) => Promise<void>

export function createEndpointStarter(client: Client): StartEndpoint {
  return (endpointId, { quietly = false } = {}) =>
    ensureRunning(client, 'endpoint', {
      workflowId: endpointWorkflowId(endpointId),
      args: [endpointId],
      summary: `Endpoint ${endpointId}`,
      ...(!quietly && { signal: lookSignal }),
    })
}
