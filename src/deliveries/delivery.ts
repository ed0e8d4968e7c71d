import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import type { Sql } from '../database/sql.ts'
import { HOUR_MS } from '../values.ts'
import { type Asked, type DeliveryState, LEASE_MS } from './delivery-states.ts'

/** One event to the partner's endpoint; its attempts are its HTTP requests. */
export const Delivery = defineEntity({
  name: 'Delivery',
  tableName: 'deliveries',
  properties: {
    eventId: p.text().primary(),
    leadId: p.integer(),
    partnerId: p.integer(),
    sequence: p.integer(),
    /** The request body, byte for byte the same on every attempt. */
    body: p.text(),
    state: p.text().$type<DeliveryState>().default('pending'),
    /** The endpoint's round in which it failed last; 0 if it has not. */
    round: p.integer().default(0),
    /** The place in the retry schedule, in that round. */
    failures: p.integer().default(0),
    nextAttemptAt: instant(),
    /** The attempt that may settle this delivery: see `createLeaseJudge`. */
    lease: p.text().nullable(),
    /** How many of the latest attempts in a row were interrupted. */
    interruptions: p.integer().default(0),
    settledAt: instant().nullable(),
    /** A requested attempt, outside the schedule: kept until it begins, or, of a settled delivery, until it has ended. */
    asked: p.text().$type<Asked>().nullable(),
    /** Why its latest attempt could not begin, for staff; null since one began. */
    fault: p.text().nullable(),
    /** The partner's request that caused the event; null for what happened without one. */
    requestId: p.uuid().nullable(),
  },
})

/** What the end of a lease writes. */
export const noLease = { lease: null, interruptions: 0 }

/** What is written when a requested attempt is done or dropped, too. */
export const noLeaseNorRequest = { ...noLease, asked: null }

/** Whether an attempt is under way, or a crash has left one that is not taken over yet. */
export const isLeased = raw<boolean>`(lease is not null)`

/** Whether this process may take a delivery's lease; `null` is a free one. */
export type MayTake = (lease: string | null) => boolean

/**
 * Judges when the lease of another attempt may be taken: once this process has known it for as long as a lease lasts, by its
 * own monotonic clock. By then its holder sends nothing, even if its process was frozen or clocks were set meanwhile.
 */
export function createLeaseJudge(monotonicMs = () => performance.now()): MayTake {
  const knownSince = new Map<string, number>()
  return (lease) => {
    if (lease === null) return true
    const nowMs = monotonicMs()
    // in the order in which they became known
    for (const [known, sinceMs] of knownSince) {
      if (nowMs - sinceMs < HOUR_MS) break
      knownSince.delete(known)
    }
    const sinceMs = knownSince.get(lease) ?? nowMs
    knownSince.set(lease, sinceMs)
    return nowMs - sinceMs >= LEASE_MS
  }
}

/** The delivery that an open row of `deliveries` waits for: the first open one of its lead, if that is an earlier one. */
export const waitsFor = raw<{ event_id: string; sequence: number } | null>`(
  select json_build_object('event_id', earlier.event_id, 'sequence', earlier.sequence)
  from deliveries earlier
  where deliveries.state = 'pending' and earlier.lead_id = deliveries.lead_id
    and earlier.state = 'pending' and earlier.sequence < deliveries.sequence
  order by earlier.sequence limit 1
)`

/**
 * The sequence of an event's webhook; `null` if it is not sent. A subquery, so that PostgreSQL evaluates it only for the rows
 * of a page.
 *
 * @param eventId the column that has the event's id.
 */
export const sequenceOf = (eventId: string) =>
  raw<number | null>`(select sequence from deliveries where event_id = ${raw.ref(eventId)})`

/** The bytes of an event's webhook; `null` if it is not sent. */
export const bodyOf = (eventId: string) =>
  raw<
    string | null
  >`(select body from deliveries where event_id = ${raw.ref(eventId)} and state <> 'canceled')`

/** A lead's deliveries from the first open one on. Those between that are not open are passed over. */
export interface DeliveryQueue {
  /** The first open one; `last + 1` when none is open. */
  next: number
  last: number
}

export async function deliveryQueue(sql: Sql, leadId: number): Promise<DeliveryQueue> {
  const { rows } = await raw<DeliveryQueue>`
    select next_sequence - 1 as last, coalesce(
      (select min(sequence) from deliveries where lead_id = ${leadId} and state = 'pending'), next_sequence
    ) as next
    from leads where id = ${leadId}`.execute(sql)
  return rows[0] ?? { next: 1, last: 0 }
}

/** What is written when an open delivery is canceled. */
export const canceled = {
  state: 'canceled' as const,
  settled_at: raw<Date>`clock_timestamp()`,
  ...noLeaseNorRequest,
}

/** Cancels a partner's open deliveries. @returns how many. */
export async function cancelOpen(trx: Sql, partnerId: number): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('deliveries')
    .set(canceled)
    .where('partner_id', '=', partnerId)
    .where('state', '=', 'pending')
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}
