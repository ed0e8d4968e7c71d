import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import type { Sql } from '../database/sql.ts'
import { addressHash, open, seal } from '../seal.ts'
import type { EventPayload, FeedEventName } from './event-payloads.ts'
import type { requiredFields } from './lead-fields.ts'
import type { MilestoneName } from './milestones.ts'
import type { AnyCloseReason, HoldReason, Onboarding } from './reasons.ts'
import { TIMED_KEY } from './referral-state.ts'

export const Lead = defineEntity({
  name: 'Lead',
  tableName: 'leads',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    partnerId: p.integer(),
    partnerLeadId: p.text().nullable(),
    /** Name, email address, phone number, notes and metadata, sealed as one; null once they are erased. */
    personal: p.text().nullable(),
    /** A keyed hash of the email address, by which staff find leads and create-lead finds duplicates. Its key is that of `personal`. */
    emailHash: p.text().nullable(),
    ficoRange: p.text().nullable(),
    loanOfficerId: p.text().nullable(),
    status: p.text().$type<MilestoneName>(),
    /** Position and webhook sequence of the next event. Positions have no gaps; sequences skip 1,000 after a restore. */
    nextPosition: p.integer(),
    nextSequence: p.integer(),
    lastEventAt: instant(),
    /** The date from which its score updates are counted: escrow_funded. */
    anchorAt: instant().nullable(),
    /** Seconds by which the lead's clock runs ahead: sandbox only, forward only. */
    clockOffset: p.integer().default(0),
    workflowStartedAt: instant().nullable(),
    /** The outcome of the onboarding mail, and when; null before the first try. */
    onboarding: p.text().$type<Onboarding>().nullable(),
    onboardingAt: instant().nullable(),
    closedAt: instant().nullable(),
    closeReason: p.text().$type<AnyCloseReason>().nullable(),
    erasedAt: instant().nullable(),
    /** Set while the lead is held: its data must be kept, so it is not erased. */
    heldAt: instant().nullable(),
    holdReason: p.text().$type<HoldReason>().nullable(),
    /** The case number that staff gave. */
    holdReference: p.text().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
    /** When the record was restored; null once the lead's workflow has read it. */
    restoredAt: instant().nullable(),
  },
})

/** An event of a lead's history, or the lead's closing, which is not part of the history. */
export const LeadEvent = defineEntity({
  name: 'LeadEvent',
  tableName: 'lead_events',
  properties: {
    /** `evt_<uuidv7>`, the webhook-id of its delivery if it has one. */
    id: p.text().primary(),
    leadId: p.integer(),
    partnerId: p.integer(),
    /** Place in the lead's history, 1 for lead_received, without gaps; 0 for a closing, which is not in it. */
    position: p.integer(),
    eventName: p.text().$type<FeedEventName>(),
    eventPayload: p.json<EventPayload | { reason: AnyCloseReason }>().nullable(),
    dedupeKey: p.text(),
    createdAt: instant(),
    /** The transaction that wrote it, by which list-events orders events. */
    txid: p.string().columnType('xid8').defaultRaw('pg_current_xact_id()'),
    /** The record's epoch: transaction ids begin anew in another cluster, and some repeat after a restore. */
    epoch: p.integer().defaultRaw('current_epoch()'),
  },
})

/** The period of the timer's latest score update among a query's events; `null` if there is none. */
export const lastPeriod = raw<
  number | null
>`max(substring(dedupe_key from ${raw.lit(`^${TIMED_KEY}(\\d+)$`)})::int)`

/**
 * The borrower's personal data, one sealed value of the lead. Whoever changes a part replaces the whole value, if it is still
 * the one that was read.
 */
export interface Borrower extends Record<(typeof requiredFields)[number], string> {
  notes: string | null
  /** The partner's fields by their names. */
  metadata: Record<string, string>
}

/**
 * The columns of a lead that hold the borrower: the personal data, sealed under the first of `keys`, and the hash of the
 * email address.
 */
export function sealBorrower(leadId: number, borrower: Borrower, keys: readonly Buffer[]) {
  const personal = seal(JSON.stringify(borrower), `leads:${leadId}:personal`, keys)
  return { personal, email_hash: hashesOfEmail(borrower.email, keys)[0] ?? null }
}

/** @throws {SealError} */
export function openBorrower(leadId: number, personal: string, keys: readonly Buffer[]): Borrower {
  return JSON.parse(open(personal, `leads:${leadId}:personal`, keys)) as Borrower
}

/** The hash of an email address under each key. */
export const hashesOfEmail = (email: string, keys: readonly Buffer[]) =>
  keys.map((key) => addressHash(email, key))

/** The time on a lead's own clock, which a sandbox can move ahead of ours. */
export const leadNow = raw<Date>`clock_timestamp() + clock_offset * interval '1 second'`

/** The `updated_at` of a lead that changes, on its own clock. It never goes back. */
export const leadUpdatedAt = raw<Date>`greatest(leads.updated_at, ${leadNow})`

/** When a lead was closed, on its own clock; `null` while it is open. The column is on ours. */
export const leadClosedAt = raw<Date | null>`closed_at + clock_offset * interval '1 second'`

/** The request that created the lead of a query's row; null if none did. */
export const leadRequest = raw<string | null>`(
  select request_id from deliveries where lead_id = leads.id and sequence = 1
)`

/** A lead's whole row, sealed. With `partnerId`, only a lead of this partner that is not erased. */
export async function findLeadRecord(sql: Sql, leadId: number, partnerId?: number) {
  return (
    sql
      .selectFrom('leads')
      .selectAll()
      // on the lead's own clock, as its events are
      .select(leadClosedAt.as('closed_at'))
      .where('id', '=', leadId)
      .$if(partnerId !== undefined, (query) =>
        query.where('partner_id', '=', partnerId ?? 0).where('erased_at', 'is', null),
      )
      .executeTakeFirst()
  )
}

export type LeadRecord = NonNullable<Awaited<ReturnType<typeof findLeadRecord>>>

/** Days without an event, by the lead's own clock, after which staff should ask about an open lead. */
export const NEWS_WITHIN_DAYS = 365

/** Open leads without news, longest first. Leads that are mortgage ready close by themselves and are left out. */
export function leadsWithoutNews(sql: Sql, limit: number) {
  return sql
    .selectFrom('leads')
    .select(['id as lead_id', 'partner_id', 'status', 'last_event_at'])
    .where('closed_at', 'is', null)
    .where('status', '!=', 'mortgage_ready')
    .where('last_event_at', '<', raw<Date>`${leadNow} - ${raw.lit(NEWS_WITHIN_DAYS)} * interval '1 day'`)
    .orderBy('last_event_at')
    .orderBy('id')
    .limit(limit)
}

export const isClosedOrErased = raw<boolean>`closed_at is not null or erased_at is not null`
