import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client'

/** A request that was answered; `route` is the route's pattern, never the requested path. */
export interface AnsweredRequest {
  method: string
  route: string
  status: number
  seconds: number
}

export type ObserveRequest = (request: AnsweredRequest) => void

/** The API's metrics, in their own registry. */
export function createApiMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time until the API answered a request',
    labelNames: ['method', 'route', 'status'],
    // partners are promised an answer within two seconds
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5],
    registers: [registry],
  })
  const refusedConnections = new Counter({
    name: 'http_connections_refused_total',
    help: 'Connections closed without an answer because MAX_CONNECTIONS were open',
    registers: [registry],
  })
  const observeRequest: ObserveRequest = ({ seconds, ...labels }) => requests.observe(labels, seconds)
  return { registry, observeRequest, countRefusedConnection: () => refusedConnections.inc() }
}
