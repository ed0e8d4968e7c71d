import type { Client } from '@temporalio/client'
import { certificationId, endpointPingId, TASK_QUEUE } from '../../../core/temporal/names.ts'
import type { CertificationRequest } from '../../../core/endpoints/decisions/certification.ts'
import type { PingOutcome } from '../../../core/endpoints/decisions/endpoint.ts'

const START_LIMIT_MS = 3000
/** One request may take fifteen seconds. */
const PING_LIMIT_MS = 17_000

/** What partners ask for their endpoints is done by workflows. Both throw while Temporal is away. */
export type EndpointRequests = ReturnType<typeof createEndpointRequests>

export function createEndpointRequests(client: Client) {
  return {
    async certify(request: CertificationRequest): Promise<void> {
      const { candidate, requestedAt } = request
      const start = () =>
        client.workflow.start<Certify>('certification', {
          workflowId: certificationId(candidate, new Date(requestedAt)),
          taskQueue: TASK_QUEUE,
          args: [request],
          workflowIdConflictPolicy: 'USE_EXISTING',
          staticSummary: `Certification of candidate ${candidate}`,
        })
      await client.withDeadline(Date.now() + START_LIMIT_MS, start)
    },

    /** Waits for the answer; one that is under way is joined. `null` if the endpoint has no URL. */
    async ping(endpointId: number): Promise<PingOutcome | null> {
      const start = () =>
        client.workflow.start<Ping>('endpointPing', {
          workflowId: endpointPingId(endpointId),
          taskQueue: TASK_QUEUE,
          args: [endpointId],
          workflowIdConflictPolicy: 'USE_EXISTING',
          // nobody waits any longer
          workflowRunTimeout: PING_LIMIT_MS,
          staticSummary: `Test request to endpoint ${endpointId}`,
        })
      const ping = await client.withDeadline(Date.now() + START_LIMIT_MS, start)
      return client.withDeadline(Date.now() + PING_LIMIT_MS, () => ping.result())
    },
  }
}

type Certify = (request: CertificationRequest) => Promise<unknown>
type Ping = (endpointId: number) => Promise<PingOutcome | null>
