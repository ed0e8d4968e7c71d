import { Gauge, type Registry } from 'prom-client'
import type { Backlog } from '../db/deliveries/backlog.ts'

const CACHE_MS = 5000
/** Prometheus waits ten seconds for all of it, and PostgreSQL may be away. */
const PATIENCE_MS = 2000

/**
 * Registers the gauges of what waits, read when they are asked for and not more than once in five seconds.
 * While that cannot be read they have no value, and everything else is told.
 */
export function registerBacklog(registry: Registry, read: () => Promise<Backlog>): void {
  const latest = cached(() => withinPatience(read()))
  const gauge = (name: string, help: string, valueOf: (backlog: Backlog) => number) => {
    const made: Gauge = new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const backlog = await latest()
        if (backlog === undefined) made.remove()
        else made.set(valueOf(backlog))
      },
    })
  }
  gauge('referrals_deliveries_due', 'Webhooks that should be sent now', ({ due }) => due)
  gauge('referrals_deliveries_held', 'Open webhooks to paused endpoints', ({ held }) => held)
  gauge(
    'referrals_delivery_oldest_due_seconds',
    'How long the oldest due webhook has been due',
    ({ oldestDueSeconds }) => oldestDueSeconds,
  )
  gauge('referrals_resends_waiting', 'Webhooks that wait to be sent once more', ({ resends }) => resends)
  gauge('referrals_leads_unstarted', 'Leads whose workflow is not started yet', ({ unstarted }) => unstarted)
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

/** What `read` answers, for all who ask within five seconds; `undefined` when it fails. */
function cached(read: () => Promise<Backlog>): () => Promise<Backlog | undefined> {
  let answer: Promise<Backlog | undefined> | undefined
  let readAt = 0
  return () => {
    if (answer === undefined || performance.now() - readAt > CACHE_MS) {
      readAt = performance.now()
      answer = read().catch(() => undefined)
    }
    return answer
  }
}

async function withinPatience(reading: Promise<Backlog>): Promise<Backlog> {
  const tooLong = Promise.withResolvers<never>()
  const timer = setTimeout(() => tooLong.reject(new Error('PostgreSQL takes too long')), PATIENCE_MS)
  try {
    return await Promise.race([reading, tooLong.promise])
  } finally {
    clearTimeout(timer)
  }
}
