import { sql as raw } from 'kysely'
import { type AttemptDecision, decideAttempt, decideWithoutEndpoint } from '../decisions/attempt-decision.ts'
import { type AttemptTrigger, PACE_MS } from '../decisions/delivery.ts'
import { isLastButOneMade } from '../decisions/retry-schedule.ts'
import type { StoredSecret } from '../../endpoints/statements/secrets.ts'
import { readUnderLock } from '../../endpoints/statements/under-lock.ts'
import { closeInterrupted, interruptionsOf } from './interrupted-attempts.ts'
import type { Sql } from '../../database/orm.ts'
import { type AttemptRow, endpointOf, leaseOf, newAttempt, type StartedAttempt } from './new-attempt.ts'

/** What comes next for a delivery; `missing`: there is none. */
export type Begun =
  | StartedAttempt
  | Exclude<AttemptDecision, { kind: 'send' | 'fail' | 'forget' }>
  /** Another session has locked the endpoint or the delivery. */
  | { kind: 'wait'; why: 'locked'; forMs: number }
  | { kind: 'unreadable'; endpointId: number; partnerId: number; reason: string }
  | { kind: 'missing' }

interface Wanted {
  leadId: number
  sequence: number
  trigger: AttemptTrigger
}

/**
 * Opens the next attempt of a delivery, under locks on the delivery and then its endpoint. Only the holder of the lease
 * sends. The attempt is recorded before anything is sent, but after all secrets are read: failing to read one is our
 * fault, and must not advance the schedule.
 */
export async function beginAttempt(
  sql: Sql,
  { leadId, sequence, trigger }: Wanted,
  encryptionKeys: readonly Buffer[],
): Promise<Begun> {
  return sql.transaction().execute(async (trx) => {
    const delivery = await lockDelivery(trx, leadId, sequence)
    if (delivery === undefined) return { kind: 'missing' }
    const early = decideWithoutEndpoint(delivery, trigger, delivery.now)
    if (early?.kind === 'forget') return forget(trx, delivery, early)
    if (early !== undefined) return early
    // settled before that, and asked for again: by a replay that has listed it, for example
    if (delivery.state !== 'pending' && (await isErased(trx, leadId)))
      return forget(trx, delivery, { kind: 'forget', state: 'canceled' })
    const endpoint = await lockEndpoint(trx, delivery)
    const read = await readUnderLock(trx, { id: endpoint.id, partnerId: delivery.partnerId })
    const locked = { ...endpoint, ...read }
    const facts = { ...delivery, leadId, sequence, interruptions: endpoint.interruptions }
    const { now } = delivery
    const decision = decideAttempt(facts, locked, trigger, { now, random: Math.random })
    if (decision.kind === 'fail') return fail(trx, facts, decision)
    if (decision.kind === 'forget') return forget(trx, facts, decision)
    return decision.kind === 'send' ? send(trx, facts, locked, decision.as, encryptionKeys) : decision
  })
}

/** An erasure locks the lead's deliveries: it was committed before, or waits until the attempt is in the record. */
async function isErased(trx: Sql, leadId: number): Promise<boolean> {
  const lead = trx
    .selectFrom('leads')
    .select('id')
    .where('id', '=', leadId)
    .where('erased_at', 'is not', null)
  return (await lead.executeTakeFirst()) !== undefined
}

async function lockDelivery(trx: Sql, leadId: number, sequence: number) {
  return trx
    .selectFrom('deliveries')
    .select(['event_id as eventId', 'partner_id as partnerId', 'state', 'failures', 'body'])
    .select(['next_attempt_at as nextAttemptAt', 'leased_until as leasedUntil'])
    .select(['resend_requested_at as resendRequestedAt', 'request_id as requestId'])
    .select(raw<Date>`clock_timestamp()`.as('now'))
    .where('lead_id', '=', leadId)
    .where('sequence', '=', sequence)
    .forUpdate()
    .executeTakeFirst()
}

type Delivery = NonNullable<Awaited<ReturnType<typeof lockDelivery>>> & { interruptions: number }

/** Also reads the delivery's interruptions, which cannot change while it is locked. */
async function lockEndpoint(trx: Sql, { partnerId, eventId }: { partnerId: number; eventId: string }) {
  return endpointOf(trx, partnerId)
    .select(interruptionsOf(eventId).as('interruptions'))
    .executeTakeFirstOrThrow()
}

type Endpoint = Awaited<ReturnType<typeof lockEndpoint>> & { secrets: readonly StoredSecret[] }

/** A third interruption in a row counts as a failure. */
async function fail(
  trx: Sql,
  { eventId }: Delivery,
  { failures, forMs }: Extract<AttemptDecision, { kind: 'fail' }>,
): Promise<Begun> {
  await closeInterrupted(trx, eventId)
  await trx
    .updateTable('deliveries')
    .set({
      failures,
      ...(isLastButOneMade(failures) && {
        last_but_one_at: raw<Date>`coalesce(last_but_one_at, clock_timestamp())`,
      }),
      next_attempt_at: raw<Date>`clock_timestamp() + ${forMs} * interval '1 millisecond'`,
      lease: null,
      leased_until: null,
      resend_requested_at: null,
    })
    .where('event_id', '=', eventId)
    .execute()
  return { kind: 'wait', why: 'not_due', forMs }
}

/** Drops a resend: the delivery was canceled, or the resend was interrupted too often. */
async function forget(
  trx: Sql,
  { eventId }: { eventId: string },
  { state }: Extract<AttemptDecision, { kind: 'forget' }>,
): Promise<Begun> {
  await closeInterrupted(trx, eventId)
  await trx
    .updateTable('deliveries')
    .set({ lease: null, leased_until: null })
    .where('event_id', '=', eventId)
    .execute()
  return { kind: 'settled', state }
}

async function send(
  trx: Sql,
  delivery: Delivery & Pick<Wanted, 'leadId' | 'sequence'>,
  endpoint: Endpoint,
  trigger: AttemptTrigger,
  encryptionKeys: readonly Buffer[],
): Promise<Begun> {
  const { eventId, partnerId, interruptions } = delivery
  if (interruptions > 0) await closeInterrupted(trx, eventId)
  const opened = newAttempt(delivery, endpoint, trigger, encryptionKeys)
  if ('unreadable' in opened) {
    const { unreadable: fault } = opened
    await trx.updateTable('deliveries').set({ fault }).where('event_id', '=', eventId).execute()
    return { kind: 'unreadable', endpointId: endpoint.id, partnerId, reason: fault }
  }
  await write(trx, opened.row)
  if (endpoint.pacedUntil !== null) await pace(trx, endpoint.id)
  return opened.started
}

/** Nothing else goes to the endpoint for a second. */
async function pace(trx: Sql, endpointId: number): Promise<void> {
  await trx
    .updateTable('endpoints')
    .set({ paced_until: raw<Date>`clock_timestamp() + ${PACE_MS} * interval '1 millisecond'` })
    .where('id', '=', endpointId)
    .execute()
}

async function write(trx: Sql, row: AttemptRow): Promise<void> {
  await trx
    .with('attempt', (cte) =>
      cte.insertInto('attempts').values((eb) => ({
        ...row,
        number: eb
          .selectFrom('attempts')
          .select(raw<number>`coalesce(max(number), 0) + 1`.as('number'))
          .where('event_id', '=', row.event_id),
      })),
    )
    .updateTable('deliveries')
    .set({
      ...leaseOf(row.id),
      fault: null,
      ...(row.trigger === 'scheduled' && { resend_requested_at: null }),
    })
    .where('event_id', '=', row.event_id)
    .execute()
}
