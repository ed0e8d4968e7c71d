import { Counter, type Registry } from 'prom-client'

export interface RequestsDependencies {
  /** Counts requests that list-requests does not show, because they could not be written. */
  countUnlisted: (count: number) => void
}

/** What the list of requests works with. */
export function forRequests(registry: Registry): RequestsDependencies {
  const unlisted = new Counter({
    name: 'referrals_api_requests_unlisted_total',
    help: 'Requests that list-requests does not show, because PostgreSQL was away for too long',
    registers: [registry],
  })
  return { countUnlisted: (count) => unlisted.inc(count) }
}
