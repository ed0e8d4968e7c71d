import type { Client } from '@temporalio/client'
import type { SelfServiceDependencies } from './routes/dependencies.ts'
import { createEndpointRequests } from './workflows/endpoint-requests.ts'

interface Tools {
  client: Client
  allowPrivateNetwork: boolean
  egressAddresses: readonly string[]
  /** Waits for nothing. */
  leftToSweep: (starting: Promise<void>) => void
}

/** What the routes of self-service work with. */
export function forSelfService({
  client,
  allowPrivateNetwork,
  egressAddresses,
  leftToSweep,
}: Tools): SelfServiceDependencies {
  const requests = createEndpointRequests(client)
  return { startRequest: (start) => leftToSweep(start(requests)), allowPrivateNetwork, egressAddresses }
}
