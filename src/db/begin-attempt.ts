import { sql as raw } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import { endpointBusyMs, LEASE_SECONDS } from './endpoint-busy.ts'
import { closeInterrupted } from './interrupted-attempts.ts'
import { ninthAttempt } from './ninth-attempt.ts'
import type { AttemptTrigger } from './entities/attempt.ts'
import type { DeliveryState } from './entities/delivery.ts'
import type { Sql } from './orm.ts'
import { forgetResend, isResendable } from './resends.ts'

const SECOND_MS = 1000

export interface StartedAttempt {
  kind: 'send'
  attemptId: string
  eventId: string
  url: string
  body: string
  /** The live secrets in plain text, the newest first. */
  secrets: string[]
}

/** Decrypts stored secrets; a reason when one cannot be read. */
export type ReadSecrets = (ciphertexts: readonly string[]) => { secrets: string[] } | { unreadable: string }

/** What comes next for a delivery: send now, come back later, wait to be woken, or nothing. */
export type Begun =
  | StartedAttempt
  | { kind: 'unreadable'; endpointId: number; partnerId: number; reason: string }
  | { kind: 'settled'; state: DeliveryState }
  | { kind: 'again'; reason: 'leased' | 'not_yet' | 'busy' | 'locked'; afterMs: number }
  | { kind: 'parked' }
  | { kind: 'unknown' }

/**
 * Opens the next attempt of a delivery, under locks on the delivery and then its endpoint: whoever holds the
 * lease is the only one who sends. The attempt is on record before anything is sent, and not before all secrets are
 * read: one that cannot be is our fault, and uses up no place in the schedule.
 *
 * @param delayMs the schedule: the wait after so many failures.
 */
export async function beginAttempt(
  sql: Sql,
  leadId: number,
  sequence: number,
  trigger: AttemptTrigger,
  delayMs: (failures: number) => number,
  readSecrets: ReadSecrets,
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
    if (trigger === 'resend' && !isResendable(delivery)) {
      await forgetResend(trx, delivery.event_id)
      return { kind: 'settled', state: delivery.state }
    }
    const endpoint = await lockEndpoint(trx, delivery)
    const { url, paused_by: pausedBy } = endpoint
    const isHeld = pausedBy !== null && !(pausedBy === 'service' && trigger === 'probe')
    if (url === null || isHeld) return { kind: 'parked' }
    const waitMs = delivery.next_attempt_at.getTime() - now.getTime()
    if (scheduled && waitMs > 0) return { kind: 'again', reason: 'not_yet', afterMs: waitMs }
    const busyMs = await endpointBusyMs(trx, endpoint, now)
    if (busyMs > 0) return { kind: 'again', reason: 'busy', afterMs: busyMs }
    const cutOff = endpoint.has_unfinished ? await closeInterrupted(trx, delivery.event_id) : 'free'
    if (cutOff === 'counts' && scheduled) {
      const afterMs = await postpone(trx, delivery, delayMs)
      return { kind: 'again', reason: 'not_yet', afterMs }
    }
    if (cutOff === 'counts' && trigger === 'resend') {
      await forgetResend(trx, delivery.event_id)
      return { kind: 'settled', state: delivery.state }
    }
    const read = readSecrets(endpoint.secrets)
    if ('unreadable' in read) {
      const { id: endpointId, partner_id: partnerId } = endpoint
      return { kind: 'unreadable', endpointId, partnerId, reason: read.unreadable }
    }
    return open(trx, { ...delivery, url, ...read }, endpoint.revision, trigger)
  })
}

function lockDelivery(trx: Sql, leadId: number, sequence: number) {
  return trx
    .selectFrom('deliveries')
    .select(['event_id', 'partner_id', 'state', 'failures', 'next_attempt_at', 'leased_until', 'body'])
    .select('resend_requested_at')
    .select(raw<Date>`clock_timestamp()`.as('now'))
    .where('lead_id', '=', leadId)
    .where('sequence', '=', sequence)
    .forUpdate()
    .executeTakeFirst()
}

/** With what else is to be known of it and of the delivery, which nobody else changes while that is locked. */
function lockEndpoint(trx: Sql, delivery: { partner_id: number; event_id: string }) {
  const now = raw<Date>`clock_timestamp()`
  return trx
    .selectFrom('endpoints')
    .select(['id', 'partner_id', 'url', 'paused_by', 'revision', 'blocked_until'])
    .select(
      raw<boolean>`exists (select from attempts where event_id = ${delivery.event_id} and finished_at is null)`.as(
        'has_unfinished',
      ),
    )
    .select(
      raw<string[]>`array(select ciphertext from endpoint_secrets where endpoint_id = endpoints.id
        and (expires_at is null or expires_at > ${now}) order by id desc)`.as('secrets'),
    )
    .where('partner_id', '=', delivery.partner_id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
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
      ...ninthAttempt(failures, raw<Date>`clock_timestamp()`),
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
  delivery: { event_id: string; body: string; url: string; secrets: string[] },
  revision: number,
  trigger: AttemptTrigger,
): Promise<StartedAttempt> {
  const attemptId = `att_${uuidv7()}`
  const eventId = delivery.event_id
  await trx
    .with('attempt', (cte) =>
      cte.insertInto('attempts').values((eb) => ({
        id: attemptId,
        event_id: eventId,
        trigger,
        endpoint_revision: revision,
        number: eb
          .selectFrom('attempts')
          .select(raw<number>`coalesce(max(number), 0) + 1`.as('number'))
          .where('event_id', '=', eventId),
      })),
    )
    .updateTable('deliveries')
    .set({
      lease: attemptId,
      leased_until: raw<Date>`clock_timestamp() + ${LEASE_SECONDS} * interval '1 second'`,
    })
    .where('event_id', '=', eventId)
    .execute()
  return {
    kind: 'send',
    attemptId,
    eventId,
    url: delivery.url,
    body: delivery.body,
    secrets: delivery.secrets,
  }
}
