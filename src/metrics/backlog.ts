import { Gauge, type Registry } from 'prom-client'
import type { Backlog } from '../core/deliveries/statements/backlog.ts'
import { cached, registerGauge } from './waiting.ts'

/**
 * Registers the gauges of what waits. They are read on a scrape, at most once in five seconds, and have no value while
 * they cannot be read.
 */
export function registerBacklog(registry: Registry, read: () => Promise<Backlog>): void {
  const latest = cached(read)
  const gauge = (name: string, help: string, valueOf: (backlog: Backlog) => number) =>
    registerGauge(registry, name, help, async () => {
      const backlog = await latest()
      return backlog && valueOf(backlog)
    })
  gauge('referrals_deliveries_due', 'Webhooks that should be sent now', ({ due }) => due)
  gauge('referrals_deliveries_held', 'Open webhooks to paused endpoints', ({ held }) => held)
  gauge(
    'referrals_delivery_oldest_due_seconds',
    'How long the oldest due webhook has been due',
    ({ oldestDueSeconds }) => oldestDueSeconds,
  )
  gauge(
    'referrals_delivery_oldest_undelivered_seconds',
    'How long ago the oldest event was recorded whose webhook is open and not held',
    ({ oldestUndeliveredSeconds }) => oldestUndeliveredSeconds,
  )
  gauge(
    'referrals_lead_oldest_unstarted_seconds',
    'How long the oldest lead without a workflow has waited for one',
    ({ oldestUnstartedSeconds }) => oldestUnstartedSeconds,
  )
  const endpoints: Gauge<'state'> = new Gauge({
    name: 'referrals_endpoints',
    help: 'Endpoints by state',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const backlog = await latest()
      endpoints.reset()
      for (const [state, count] of Object.entries(backlog?.endpoints ?? {})) endpoints.set({ state }, count)
    },
  })
}
