import { sql as raw } from 'kysely'
import type { Sql } from './orm.ts'

/** How long an attempt may settle its delivery: above the 15 s that a request may take. */
export const LEASE_SECONDS = 20
/** Requests in flight to one endpoint. */
const ENDPOINT_CAP = 10
const SECOND_MS = 1000
const LONGEST_REQUEST_MS = 15 * SECOND_MS

/** 0, or how long a delivery stands back while its endpoint is blocked or has enough in flight. */
export async function endpointBusyMs(
  trx: Sql,
  endpoint: { partner_id: number; blocked_until: Date | null },
  now: Date,
): Promise<number> {
  const { count: inFlight, oldest } = await trx
    .selectFrom('deliveries')
    .select((eb) => [eb.fn.countAll<string>().as('count'), eb.fn.min('leased_until').as('oldest')])
    .where('partner_id', '=', endpoint.partner_id)
    .where('lease', 'is not', null)
    .where('leased_until', '>', raw<Date>`clock_timestamp()`)
    .executeTakeFirstOrThrow()
  const blocked = endpoint.blocked_until !== null && endpoint.blocked_until > now
  if (!blocked && Number(inFlight) < ENDPOINT_CAP) return 0
  const { count: due } = await trx
    .selectFrom('deliveries')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('partner_id', '=', endpoint.partner_id)
    .where('state', '=', 'pending')
    .where('next_attempt_at', '<=', raw<Date>`clock_timestamp()`)
    .executeTakeFirstOrThrow()
  const tookMs =
    blocked || oldest === null
      ? LONGEST_REQUEST_MS
      : now.getTime() - (oldest.getTime() - LEASE_SECONDS * SECOND_MS)
  return standBackMs(Number(due), tookMs, Math.random)
}

/**
 * Those that wait come back in turn, ten in the time that requests take now (the oldest in flight tells: an
 * endpoint that hangs takes 15 s, one that works milliseconds), spread by ± 20 % so that no storm forms.
 */
function standBackMs(due: number, tookMs: number, random: () => number): number {
  const turnMs = Math.min(tookMs, LONGEST_REQUEST_MS)
  const wait = Math.min(Math.max((due / ENDPOINT_CAP) * turnMs, SECOND_MS), 5 * 60 * SECOND_MS)
  return Math.round(wait * (0.8 + 0.4 * random()))
}
