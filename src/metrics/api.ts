import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client'

/** What is known of a request once it is answered; `route` is its pattern, never the path as it came. */
export interface AnsweredRequest {
  method: string
  route: string
  status: number
  seconds: number
}

export type ObserveRequest = (request: AnsweredRequest) => void

/** The API's metrics, in a registry of its own. */
export function createApiMetrics(): {
  registry: Registry
  observeRequest: ObserveRequest
  countRefusedConnection: () => void
} {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time until a request to the API was answered',
    labelNames: ['method', 'route', 'status'],
    // partners are promised an answer within two seconds
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5],
    registers: [registry],
  })
  const refusedConnections = new Counter({
    name: 'http_connections_refused_total',
    help: 'Connections closed unanswered because there were MAX_CONNECTIONS',
    registers: [registry],
  })
  return {
    registry,
    countRefusedConnection: () => refusedConnections.inc(),
    observeRequest: ({ method, route, status, seconds }) =>
      requests.observe({ method, route, status }, seconds),
  }
}
