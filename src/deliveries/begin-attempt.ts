import { sql as raw } from 'kysely'
import { type AttemptDecision, decideAttempt, type DeliveryFacts } from './attempt-decision.ts'
import type { AttemptTrigger } from './delivery-states.ts'
import { inRound, isLastButOneMade } from './retry-schedule.ts'
import type { Sql } from '../database/sql.ts'
import { leaseOf, type MayTake, noLease } from './delivery.ts'
import {
  type AttemptRow,
  type CalledEndpoint,
  newAttempt,
  readEndpoint,
  type StartedAttempt,
} from './attempt.ts'

/** What comes next for a delivery; `missing`: there is none. */
export type Begun =
  | { kind: 'send'; started: StartedAttempt }
  | Exclude<AttemptDecision, { kind: 'send' | 'fail' | 'forget' }>
  | { kind: 'unreadable'; endpointId: number; partnerId: number; reason: string }
  | { kind: 'missing' }

interface Wanted {
  leadId: number
  sequence: number
  trigger: AttemptTrigger
}

/**
 * Opens the next attempt of a delivery: locks it, and decides in the statements that follow. Only the holder of the lease
 * sends. The attempt is recorded before anything is sent, but after all secrets are read: failing to read one is our
 * fault, and must not advance the schedule.
 */
export async function beginAttempt(
  sql: Sql,
  { leadId, sequence, trigger }: Wanted,
  encryptionKeys: readonly Buffer[],
  mayTake: MayTake,
): Promise<Begun> {
  return sql.transaction().execute(async (trx) => {
    const delivery = await lockDelivery(trx, leadId, sequence)
    if (delivery === undefined) return { kind: 'missing' }
    // an erasure locks the lead's deliveries: it was committed before, or waits until the attempt is in the record
    const [endpoint] = await readEndpoint(trx, { partnerId: delivery.partnerId, leadId })
    if (endpoint === undefined) throw new Error('a partner has no endpoint')
    const { now, isErased, round } = endpoint
    const isLeased = !mayTake(delivery.lease)
    // whoever has the lease did not come to the end of its attempt
    const interruptions = delivery.interruptions + (delivery.lease === null ? 0 : 1)
    const facts = {
      ...inRound(delivery, round, now),
      round,
      leadId,
      sequence,
      isErased,
      isLeased,
      interruptions,
    }
    const decision = decideAttempt(facts, endpoint, trigger, { now, random: Math.random })
    if (decision.kind === 'fail') return fail(trx, facts, decision, now)
    if (decision.kind === 'forget') return forget(trx, facts, decision)
    return decision.kind === 'send' ? send(trx, facts, endpoint, decision.as, encryptionKeys) : decision
  })
}

async function lockDelivery(trx: Sql, leadId: number, sequence: number) {
  return trx
    .selectFrom('deliveries')
    .select(['event_id as eventId', 'partner_id as partnerId', 'state', 'body', 'round', 'failures'])
    .select(['next_attempt_at as nextAttemptAt', 'last_but_one_at as lastButOneAt'])
    .select(['lease', 'interruptions'])
    .select(['resend_requested_at as resendRequestedAt', 'request_id as requestId'])
    .where('lead_id', '=', leadId)
    .where('sequence', '=', sequence)
    .forUpdate()
    .executeTakeFirst()
}

type Delivery = NonNullable<Awaited<ReturnType<typeof lockDelivery>>> &
  DeliveryFacts &
  Pick<Wanted, 'leadId' | 'sequence'>

/** A third interruption in a row counts as a failure. */
async function fail(
  trx: Sql,
  { eventId, round, lastButOneAt }: Delivery,
  { failures, forMs }: Extract<AttemptDecision, { kind: 'fail' }>,
  now: Date,
): Promise<Begun> {
  await closeInterrupted(trx, eventId)
  await trx
    .updateTable('deliveries')
    .set({
      ...noLease,
      round,
      failures,
      interruptions: 0,
      last_but_one_at: isLastButOneMade(failures) ? (lastButOneAt ?? now) : null,
      next_attempt_at: raw<Date>`clock_timestamp() + ${forMs} * interval '1 millisecond'`,
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
    .set({ ...noLease, interruptions: 0 })
    .where('event_id', '=', eventId)
    .execute()
  return { kind: 'settled', state }
}

async function send(
  trx: Sql,
  delivery: Delivery,
  endpoint: CalledEndpoint,
  trigger: AttemptTrigger,
  encryptionKeys: readonly Buffer[],
): Promise<Begun> {
  const { eventId, partnerId, lease, interruptions } = delivery
  const opened = newAttempt(delivery, endpoint, trigger, encryptionKeys)
  if ('unreadable' in opened) {
    const { unreadable: fault } = opened
    await trx.updateTable('deliveries').set({ fault }).where('event_id', '=', eventId).execute()
    return { kind: 'unreadable', endpointId: endpoint.id, partnerId, reason: fault }
  }
  if (lease !== null) await closeInterrupted(trx, eventId)
  await write(trx, opened.row, interruptions)
  return { kind: 'send', started: opened.started }
}

async function write(trx: Sql, row: AttemptRow, interruptions: number): Promise<void> {
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
      interruptions,
      ...(row.trigger === 'scheduled' && { resend_requested_at: null }),
    })
    .where('event_id', '=', row.event_id)
    .execute()
}

/** Closes an attempt whose process went away before it could say how it ended. */
async function closeInterrupted(trx: Sql, eventId: string): Promise<void> {
  await trx
    .updateTable('attempts')
    .set({
      finished_at: raw<Date>`clock_timestamp()`,
      error_code: 'interrupted',
      hint: 'our sender was interrupted; it is sent again',
    })
    .where('event_id', '=', eventId)
    .where('finished_at', 'is', null)
    .execute()
}
