import type { Client } from '@temporalio/client'
import { lookSignal } from '../../../../workflows/messages.ts'
import { ensureRunning } from '../../../core/temporal/ensure-running.ts'
import { certificationId, endpointChangeId, endpointPingId } from '../../../core/temporal/names.ts'

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
    /** A running one is told to look at the record. */
    change: (id: number, { quietly = false }: { quietly?: boolean } = {}) =>
      ensureRunning(client, 'endpointChange', {
        workflowId: endpointChangeId(id),
        args: [id],
        summary: `Change ${id} of an endpoint`,
        ...(!quietly && { signal: lookSignal }),
      }),
  }
}
