import type { Client } from '@temporalio/client'
import { ensureRunning } from '../../../core/temporal/ensure-running.ts'
import { certificationId, endpointPingId } from '../../../core/temporal/names.ts'

/** Starts the workflows that carry out what partners ask for their endpoints, each by its id in the record. */
export type EndpointRequests = ReturnType<typeof createEndpointRequests>

export function createEndpointRequests(client: Client) {
  return {
    certify: (id: number) =>
      ensureRunning(client, 'certification', {
        workflowId: certificationId(id),
        args: [id],
        summary: `Certification ${id}`,
      }),
    ping: (id: number) =>
      ensureRunning(client, 'endpointPing', {
        workflowId: endpointPingId(id),
        args: [id],
        summary: `Test request ${id}`,
      }),
  }
}
