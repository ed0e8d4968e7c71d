import type { Client } from '@temporalio/client'
import { lookSignal } from '../../workflows/messages.ts'
import { ensureRunning } from './ensure-running.ts'
import { endpointWorkflowId } from './names.ts'

/**
 * Starts the workflow that brings an endpoint back to work. One that runs is told to look at the record now, as
 * it may be waiting for its next probe; `quietly` says nothing to it.
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
