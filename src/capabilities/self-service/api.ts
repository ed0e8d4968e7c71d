import type { Client } from '@temporalio/client'
import type { SelfServiceDependencies } from './routes/dependencies.ts'
import { createEndpointRequests } from './workflows/endpoint-requests.ts'

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
