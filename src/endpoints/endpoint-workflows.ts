import { type Client, WithStartWorkflowOperation } from '@temporalio/client'
import { lookSignal, pingUpdate } from '../../workflows/messages.ts'
import { certificationId, endpointWorkflowId, TASK_QUEUE } from '../temporal/names.ts'
import type { CertificationRequest } from './certification-checks.ts'
import type { PingOutcome } from './endpoint-state.ts'
import type { SelfServiceDependencies } from './own-endpoint.ts'

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
    const options = optionsOf(endpointId)
    await client.withDeadline(Date.now() + CALL_LIMIT_MS, async () => {
      if (quietly) await client.workflow.start<Workflow>('endpoint', options)
      else await client.workflow.signalWithStart<Workflow>('endpoint', { ...options, signal: lookSignal })
    })
  }
}

const optionsOf = (endpointId: number) => ({
  workflowId: endpointWorkflowId(endpointId),
  taskQueue: TASK_QUEUE,
  args: [endpointId] as [number],
  workflowIdConflictPolicy: 'USE_EXISTING' as const,
  workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
  staticSummary: `Endpoint ${endpointId}`,
})

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

    /** Sends a test request and waits for the answer; one that is under way is joined. `null` if the endpoint has no URL. */
    async ping(endpointId: number): Promise<PingOutcome | null> {
      const startWorkflowOperation = new WithStartWorkflowOperation<Workflow>(
        'endpoint',
        optionsOf(endpointId),
      )
      const ask = () => client.workflow.executeUpdateWithStart(pingUpdate, { startWorkflowOperation })
      return client.withDeadline(Date.now() + PING_LIMIT_MS, ask)
    },
  }
}

type Certify = (request: CertificationRequest) => Promise<unknown>

interface Tools {
  client: Client
  allowPrivateNetwork: boolean
  egressAddresses: readonly string[]
}

/** What the routes of self-service work with. */
export const forSelfService = ({ client, ...settings }: Tools): SelfServiceDependencies => ({
  endpointRequests: createEndpointRequests(client),
  allowPrivateNetwork: settings.allowPrivateNetwork,
  egressAddresses: settings.egressAddresses,
})
