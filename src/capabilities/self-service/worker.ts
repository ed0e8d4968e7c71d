import type { Client } from '@temporalio/client'
import { certificationId, endpointPingId } from '../../core/temporal/names.ts'
import type { Swept } from '../../core/temporal/sweep.ts'
import { runningCertifications } from './statements/certifications.ts'
import { openPings } from './statements/pings.ts'
import { createEndpointRequests } from './workflows/endpoint-requests.ts'

/** What partners have asked for their endpoints and is not over. */
export function requestsLeftOut(client: Client): Swept[] {
  const { certify, ping } = createEndpointRequests(client)
  return [
    {
      failure: 'cannot start a certification; trying again every minute',
      idName: 'certification_id',
      workflowId: certificationId,
      find: runningCertifications,
      start: certify,
    },
    {
      failure: 'cannot start a test request; trying again every minute',
      idName: 'ping_id',
      workflowId: endpointPingId,
      find: openPings,
      start: ping,
    },
  ]
}
