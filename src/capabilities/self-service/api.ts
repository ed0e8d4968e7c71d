import type { Client } from '@temporalio/client'
import type { SelfServiceDependencies } from './routes/dependencies.ts'
import { createEndpointRequests } from './workflows/endpoint-requests.ts'

interface Tools {
  client: Client
  allowPrivateNetwork: boolean
  /** Waits for nothing. */
  leftToSweep: (starting: Promise<void>) => void
}

/** What the routes of self-service work with. */
export function forSelfService({ client, allowPrivateNetwork, leftToSweep }: Tools): SelfServiceDependencies {
  const requests = createEndpointRequests(client)
  return { startRequest: (start) => leftToSweep(start(requests)), allowPrivateNetwork }
}
