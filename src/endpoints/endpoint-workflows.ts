import { type Client, WithStartWorkflowOperation } from '@temporalio/client'
import type { certification } from '../../workflows/certification.ts'
import type { endpoint } from '../../workflows/endpoint.ts'
import { lookSignal, pingUpdate } from '../../workflows/messages.ts'
import { certificationId, endpointWorkflowId, TASK_QUEUE } from '../temporal/names.ts'
import type { CertificationRequest } from './certification-checks.ts'
import type { PingOutcome } from './endpoint-state.ts'

/**
 * Starts an endpoint's workflow, unless it is running. A running one is told to read the record now, because it may wait for
 * its next probe; not with `quietly`.
 */
export type StartEndpoint = (endpointId: number, options?: { quietly?: boolean }) => Promise<void>

const START_LIMIT_MS = 3000
/** One request may take fifteen seconds. */
const PING_LIMIT_MS = 17_000

export function createEndpointStarter(client: Client): StartEndpoint {
  return async (endpointId, { quietly = false } = {}) => {
    const options = optionsOf(endpointId)
    await client.withDeadline(Date.now() + START_LIMIT_MS, async () => {
      if (quietly) await client.workflow.start<typeof endpoint>('endpoint', options)
      else
        await client.workflow.signalWithStart<typeof endpoint>('endpoint', { ...options, signal: lookSignal })
    })
  }
}

const optionsOf = (endpointId: number) => ({
  workflowId: endpointWorkflowId(endpointId),
  taskQueue: TASK_QUEUE,
  args: [endpointId] as [number],
  workflowIdConflictPolicy: 'USE_EXISTING' as const,
  staticSummary: `Endpoint ${endpointId}`,
})

/** What workflows do for partners. Both calls throw while Temporal is away. */
export type EndpointRequests = ReturnType<typeof createEndpointRequests>

export function createEndpointRequests(client: Client) {
  return {
    async certify(request: CertificationRequest): Promise<void> {
      const { candidate, requestedAt } = request
      const start = () =>
        client.workflow.start<typeof certification>('certification', {
          workflowId: certificationId(candidate, new Date(requestedAt)),
          taskQueue: TASK_QUEUE,
          args: [request],
          workflowIdConflictPolicy: 'USE_EXISTING',
          staticSummary: `Certification of candidate ${candidate}`,
        })
      await client.withDeadline(Date.now() + START_LIMIT_MS, start)
    },

    /** Sends a test request and waits for the answer; one that is under way is joined. `null` if the endpoint has no URL. */
    async ping(endpointId: number): Promise<PingOutcome | null> {
      const options = optionsOf(endpointId)
      const startWorkflowOperation = new WithStartWorkflowOperation<typeof endpoint>('endpoint', options)
      const ask = () => client.workflow.executeUpdateWithStart(pingUpdate, { startWorkflowOperation })
      return client.withDeadline(Date.now() + PING_LIMIT_MS, ask)
    },
  }
}
