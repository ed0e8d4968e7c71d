import { sql as raw, type UpdateObject } from 'kysely'
import type { Tables } from '../database/orm.ts'
import type { Sql } from '../database/sql.ts'
import { type AttemptDecision, decideAttempt } from './attempt-decision.ts'
import { newAttempt, readEndpoint, type StartedAttempt } from './attempt.ts'
import type { AttemptTrigger } from './delivery-states.ts'
import { type MayTake, noLeaseNorRequest } from './delivery.ts'
import { inRound } from './retry-schedule.ts'

/** What comes next for a delivery; `missing`: there is none. */
export type Begun =
  | { kind: 'send'; started: StartedAttempt }
  | Exclude<AttemptDecision, { kind: 'send' | 'fail' }>
  | { kind: 'unreadable'; partnerId: number; reason: string }
  | { kind: 'missing' }

export interface Wanted {
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
  return sql.transaction().execute(async (trx): Promise<Begun> => {
    const stored = await lockDelivery(trx, leadId, sequence)
    if (stored === undefined) return { kind: 'missing' }
    const { eventId, partnerId, lease } = stored
    // an erasure locks the lead's deliveries: it was committed before, or waits until the attempt is in the record
    const endpoint = await readEndpoint(trx, { partnerId, leadId })
    const { now, round, isErased } = endpoint
    // unless it is still respected, the lease is left from an attempt without an end
    const interruptions = stored.interruptions + (lease === null ? 0 : 1)
    const delivery = inRound({ ...stored, interruptions }, round, now)
    const facts = { ...delivery, isErased, isLeased: !mayTake(lease) }
    const decision = decideAttempt(facts, endpoint, trigger, { now, random: Math.random })
    const write = (columns: UpdateObject<Tables, 'deliveries'>) =>
      trx.updateTable('deliveries').set(columns).where('event_id', '=', eventId).execute()

    if (decision.kind === 'held' || decision.kind === 'wait') return decision
    if (lease !== null) await closeInterrupted(trx, eventId)
    if (decision.kind === 'settled') {
      if (lease !== null || trigger === stored.asked) await write(noLeaseNorRequest)
      return decision
    }
    if (decision.kind === 'fail') {
      const { failures, forMs } = decision
      await write({
        ...noLeaseNorRequest,
        round,
        failures,
        next_attempt_at: raw<Date>`clock_timestamp() + ${forMs} * interval '1 millisecond'`,
      })
      return { kind: 'wait', why: 'not_due', forMs }
    }
    const isRepeat = stored.state !== 'pending'
    const webhook = { ...stored, leadId, sequence, isRepeat }
    const attempt = newAttempt(webhook, endpoint, decision.as, encryptionKeys)
    if ('unreadable' in attempt) {
      await write({ fault: attempt.unreadable })
      return { kind: 'unreadable', partnerId, reason: attempt.unreadable }
    }
    const number = raw<number>`(select coalesce(max(number), 0) + 1 from attempts where event_id = ${eventId})`
    await trx
      .with('attempt', (cte) => cte.insertInto('attempts').values({ ...attempt.row, number }))
      .updateTable('deliveries')
      .set({ lease: attempt.row.id, fault: null, interruptions, ...(!isRepeat && { asked: null }) })
      .where('event_id', '=', eventId)
      .execute()
    return { kind: 'send', started: attempt.started }
  })
}

function lockDelivery(trx: Sql, leadId: number, sequence: number) {
  return trx
    .selectFrom('deliveries')
    .select(['event_id as eventId', 'partner_id as partnerId', 'request_id as requestId', 'body', 'state'])
    .select(['round', 'failures', 'next_attempt_at as nextAttemptAt', 'lease', 'interruptions', 'asked'])
    .where('lead_id', '=', leadId)
    .where('sequence', '=', sequence)
    .forUpdate()
    .executeTakeFirst()
}

/** Closes an attempt whose process ended before it wrote the outcome. */
async function closeInterrupted(trx: Sql, eventId: string): Promise<void> {
  await trx
    .updateTable('attempts')
    .set({
      finished_at: raw<Date>`clock_timestamp()`,
      error_code: 'interrupted',
      hint: 'our sender was interrupted; the webhook is sent again',
    })
    .where('event_id', '=', eventId)
    .where('finished_at', 'is', null)
    .execute()
}
