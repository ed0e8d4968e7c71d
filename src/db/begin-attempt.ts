import { sql as raw } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import { liveSecrets } from './endpoints.ts'
import { closeInterrupted } from './interrupted-attempts.ts'
import type { AttemptTrigger } from './entities/attempt.ts'
import type { DeliveryState } from './entities/delivery.ts'
import type { Sql } from './orm.ts'

/** How long an attempt may settle its delivery: above the 15 s that a request may take. */
export const LEASE_SECONDS = 20
/** Requests in flight to one endpoint. */
const ENDPOINT_CAP = 10
const SECOND_MS = 1000
const LONGEST_REQUEST_MS = 15 * SECOND_MS

export interface StartedAttempt {
  kind: 'send'
  attemptId: string
  eventId: string
  url: string
  body: string
  /** Ciphertexts of the live secrets, the newest first. */
  secrets: string[]
}

/** What comes next for a delivery: send now, come back later, wait to be woken, or nothing. */
export type Begun =
  | StartedAttempt
  | { kind: 'settled'; state: DeliveryState }
  | { kind: 'again'; reason: 'leased' | 'not_yet' | 'busy'; afterMs: number }
  | { kind: 'parked' }
  | { kind: 'unknown' }

/**
 * Opens the next attempt of a delivery, under locks on the delivery and then its endpoint: whoever holds the
 * lease is the only one who sends. The attempt is on record before anything is sent.
 *
 * @param delayMs the schedule: the wait after so many failures.
 */
export async function beginAttempt(
  sql: Sql,
  leadId: number,
  sequence: number,
  trigger: AttemptTrigger,
  delayMs: (failures: number) => number,
): Promise<Begun> {
  return sql.transaction().execute(async (trx) => {
    const delivery = await lockDelivery(trx, leadId, sequence)
    if (delivery === undefined) return { kind: 'unknown' }
    const { now } = delivery
    const scheduled = trigger === 'scheduled'
    const isOpen = scheduled || trigger === 'probe'
    if (isOpen && delivery.state !== 'pending') return { kind: 'settled', state: delivery.state }
    if (delivery.leased_until !== null && delivery.leased_until > now) {
      return { kind: 'again', reason: 'leased', afterMs: SECOND_MS }
    }
    const endpoint = await lockEndpoint(trx, delivery.partner_id)
    if (endpoint.url === null || (endpoint.state === 'paused' && trigger !== 'probe'))
      return { kind: 'parked' }
    const waitMs = delivery.next_attempt_at.getTime() - now.getTime()
    if (scheduled && waitMs > 0) return { kind: 'again', reason: 'not_yet', afterMs: waitMs }
    const busyMs = await endpointBusyMs(trx, endpoint, now)
    if (busyMs > 0) return { kind: 'again', reason: 'busy', afterMs: busyMs }
    if ((await closeInterrupted(trx, delivery.event_id)) === 'counts' && scheduled) {
      const afterMs = await postpone(trx, delivery, delayMs)
      return { kind: 'again', reason: 'not_yet', afterMs }
    }
    return open(trx, { ...delivery, url: endpoint.url, endpointId: endpoint.id }, trigger)
  })
}

function lockDelivery(trx: Sql, leadId: number, sequence: number) {
  return trx
    .selectFrom('deliveries')
    .select(['event_id', 'partner_id', 'state', 'failures', 'next_attempt_at', 'leased_until', 'body'])
    .select(raw<Date>`clock_timestamp()`.as('now'))
    .where('lead_id', '=', leadId)
    .where('sequence', '=', sequence)
    .forUpdate()
    .executeTakeFirst()
}

function lockEndpoint(trx: Sql, partnerId: number) {
  return trx
    .selectFrom('endpoints')
    .select(['id', 'partner_id', 'url', 'state', 'blocked_until'])
    .where('partner_id', '=', partnerId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
}

/** 0, or how long a delivery stands back while its endpoint is blocked or has enough in flight. */
async function endpointBusyMs(
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

/** Counts a failure that no request ended in, and says how long until the next attempt. */
async function postpone(
  trx: Sql,
  delivery: { event_id: string; failures: number },
  delayMs: (failures: number) => number,
): Promise<number> {
  const failures = delivery.failures + 1
  const afterMs = delayMs(failures)
  await trx
    .updateTable('deliveries')
    .set({
      failures,
      next_attempt_at: raw<Date>`clock_timestamp() + ${afterMs} * interval '1 millisecond'`,
      lease: null,
      leased_until: null,
    })
    .where('event_id', '=', delivery.event_id)
    .execute()
  return afterMs
}

async function open(
  trx: Sql,
  delivery: { event_id: string; body: string; url: string; endpointId: number },
  trigger: AttemptTrigger,
): Promise<StartedAttempt> {
  const attemptId = `att_${uuidv7()}`
  const eventId = delivery.event_id
  await trx
    .insertInto('attempts')
    .values((eb) => ({
      id: attemptId,
      event_id: eventId,
      trigger,
      number: eb
        .selectFrom('attempts')
        .select(raw<number>`coalesce(max(number), 0) + 1`.as('number'))
        .where('event_id', '=', eventId),
    }))
    .execute()
  await trx
    .updateTable('deliveries')
    .set({
      lease: attemptId,
      leased_until: raw<Date>`clock_timestamp() + ${LEASE_SECONDS} * interval '1 second'`,
    })
    .where('event_id', '=', eventId)
    .execute()
  const secrets = await liveSecrets(trx, delivery.endpointId)
  return {
    kind: 'send',
    attemptId,
    eventId,
    url: delivery.url,
    body: delivery.body,
    secrets: secrets.map((secret) => secret.ciphertext),
  }
}
