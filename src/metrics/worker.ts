import { collectDefaultMetrics, Registry } from 'prom-client'

/** The worker's metrics, in a registry of its own. */
export function createWorkerMetrics(): { registry: Registry } {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return { registry }
}
