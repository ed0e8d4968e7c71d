import { sql as raw, type UpdateObject } from 'kysely'
import type { Tables } from '../database/orm.ts'
import { compiledOnce, type Sql } from '../database/sql.ts'
import { type AttemptDecision, decideAttempt } from './attempt-decision.ts'
import { endpointToCall, insertAttempt, newAttempt, type NewAttempt, type StartedAttempt } from './attempt.ts'
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
 * Opens the next attempt of a delivery. One statement reads it, and another writes what was decided from that, unless the
 * delivery changed meanwhile: then both are repeated. Only the holder of the lease sends. The attempt is recorded before
 * anything is sent, but after all secrets are read: failing to read one is our fault, and must not advance the schedule.
 */
export async function beginAttempt(
  sql: Sql,
  { leadId, sequence, trigger }: Wanted,
  encryptionKeys: readonly Buffer[],
  mayTake: MayTake,
): Promise<Begun> {
  for (;;) {
    const [stored] = await selectDelivery(sql, { leadId, sequence })
    if (stored === undefined) return { kind: 'missing' }
    const { eventId, partnerId, body, requestId, number, lease, endpoint, now } = stored
    const { round } = endpoint
    // unless it is still respected, the lease is left from an attempt without an end
    const interruptions = stored.interruptions + (lease === null ? 0 : 1)
    const delivery = inRound({ ...stored, interruptions }, round, now)
    const facts = { ...delivery, isLeased: !mayTake(lease) }
    const decision = decideAttempt(facts, endpoint, trigger, { now, random: Math.random })
    if (decision.kind === 'held' || decision.kind === 'wait') return decision
    if (decision.kind === 'settled') {
      const isDone = lease === null && trigger !== stored.asked
      if (isDone || (await write(sql, stored, noLeaseNorRequest))) return decision
      continue
    }
    if (decision.kind === 'fail') {
      const { failures, forMs } = decision
      const next_attempt_at = raw<Date>`clock_timestamp() + ${forMs} * interval '1 millisecond'`
      if (await write(sql, stored, { ...noLeaseNorRequest, round, failures, next_attempt_at }))
        return { kind: 'wait', why: 'not_due', forMs }
      continue
    }
    const isRepeat = stored.state !== 'pending'
    const webhook = { eventId, leadId, sequence, partnerId, body, requestId, isRepeat, number }
    const attempt = newAttempt(webhook, endpoint, decision.as, encryptionKeys)
    if ('unreadable' in attempt) {
      const { unreadable: reason } = attempt
      if (await write(sql, stored, { fault: reason })) return { kind: 'unreadable', partnerId, reason }
      continue
    }
    const { row, started } = attempt
    const columns = { lease: row.id, fault: null, interruptions, ...(!isRepeat && { asked: null }) }
    if (await write(sql, stored, columns, row)) return { kind: 'send', started }
  }
}

const selectDelivery = compiledOnce<{ leadId: number; sequence: number }>()((sql, value) =>
  sql
    .selectFrom('deliveries')
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .select(['event_id as eventId', 'deliveries.partner_id as partnerId', 'request_id as requestId', 'body'])
    .select(['deliveries.state', 'deliveries.round', 'failures', 'next_attempt_at as nextAttemptAt', 'lease'])
    .select(['interruptions', 'asked', raw<string>`deliveries.xmin::text`.as('version')])
    .select(
      raw<number>`1 + (select coalesce(max(number), 0) from attempts where event_id = deliveries.event_id)`.as(
        'number',
      ),
    )
    .select(
      raw<boolean>`exists (select from leads where id = lead_id and erased_at is not null)`.as('isErased'),
    )
    .select([endpointToCall.as('endpoint'), raw<Date>`clock_timestamp()`.as('now')])
    .where('lead_id', '=', value('leadId'))
    .where('sequence', '=', value('sequence')),
)

type StoredDelivery = Awaited<ReturnType<typeof selectDelivery>>[number]

/** Closes an attempt whose process ended before it wrote the outcome. */
const closeInterrupted = raw`, interrupted as (
  update attempts set finished_at = clock_timestamp(), error_code = 'interrupted',
    hint = 'our sender was interrupted; the webhook is sent again'
  from delivery where attempts.event_id = delivery.event_id and finished_at is null
)`

/** Writes columns of a delivery, and its new attempt, unless the delivery changed since it was read. */
async function write(
  sql: Sql,
  { eventId, version, lease }: StoredDelivery,
  columns: UpdateObject<Tables, 'deliveries'>,
  attempt?: NewAttempt,
): Promise<boolean> {
  const delivery = sql
    .updateTable('deliveries')
    .set(columns)
    .where('event_id', '=', eventId)
    .where(raw<boolean>`xmin = ${version}::xid`)
    .returning('event_id')
  const opened = attempt && raw`, attempt as (${insertAttempt(raw`${JSON.stringify(attempt)}`)})`
  const { rows } = await raw`
    with delivery as (${delivery}) ${lease === null ? raw`` : closeInterrupted} ${opened ?? raw``}
    select from delivery`.execute(sql)
  return rows.length > 0
}
