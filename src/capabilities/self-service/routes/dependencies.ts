import type { RouteDependencies } from '../../../core/http/dependencies.ts'
import type { EndpointRequests } from '../workflows/endpoint-requests.ts'

export interface SelfServiceDependencies {
  endpointRequests: EndpointRequests
  /** Allows endpoints at loopback and private addresses. */
  allowPrivateNetwork: boolean
  /** The addresses and networks that webhooks come from, as the deployment promises; none if it promises nothing. */
  egressAddresses: readonly string[]
}

/** Of which each route picks what it needs. */
export interface SelfServiceRouteDependencies extends RouteDependencies, SelfServiceDependencies {}
