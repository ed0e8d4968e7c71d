import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import { compiledOnce, type Sql } from '../database/sql.ts'
import { addressHash, open, seal } from '../seal.ts'
import type { EventPayload, FeedEventName } from './event-payloads.ts'
import type { requiredFields } from './lead-fields.ts'
import type { MilestoneName } from './milestones.ts'
import type { AnyCloseReason, HoldReason, Onboarding } from './reasons.ts'
import { type MilestoneItem, TIMED_KEY } from './referral-state.ts'

export const Lead = defineEntity({
  name: 'Lead',
  tableName: 'leads',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    partnerId: p.integer(),
    partnerLeadId: p.text().nullable(),
    /** Name, email address, phone number, notes and metadata, sealed as one; null once they are erased. */
    personal: p.text().nullable(),
    /** A keyed hash of the email address, under the key that `personal` is sealed with: staff find a lead by it, and create-lead another of the same borrower. */
    emailHash: p.text().nullable(),
    ficoRange: p.text().nullable(),
    loanOfficerId: p.text().nullable(),
    status: p.text().$type<MilestoneName>(),
    /** Of the lead's next event. Positions have no gaps; webhook sequences skip 1,000 after a restore. */
    nextPosition: p.integer(),
    nextSequence: p.integer(),
    lastEventAt: instant(),
    /** The date from which its score updates are counted: escrow_funded. */
    anchorAt: instant().nullable(),
    /** Seconds by which the lead's clock runs ahead: sandbox only, forward only. */
    clockOffset: p.integer().default(0),
    workflowStartedAt: instant().nullable(),
    /** What became of the mail that welcomes the borrower, and since when; null before it is tried. */
    onboarding: p.text().$type<Onboarding>().nullable(),
    onboardingAt: instant().nullable(),
    closedAt: instant().nullable(),
    closeReason: p.text().$type<AnyCloseReason>().nullable(),
    erasedAt: instant().nullable(),
    /** Set while the law wants its data kept: it is not erased. */
    heldAt: instant().nullable(),
    holdReason: p.text().$type<HoldReason>().nullable(),
    /** A case number of staff's. */
    holdReference: p.text().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
    /** When the record was restored, until the lead's workflow has read it. */
    restoredAt: instant().nullable(),
  },
})

/** An event of a lead's history, or, outside of it, that the lead was closed. */
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
    /** The order in which events became visible, for readers that follow all leads. */
    txid: p.string().columnType('xid8').defaultRaw('pg_current_xact_id()'),
    /** Of the record: transaction ids begin anew in another cluster, and after a restore some come twice. */
    epoch: p.integer().defaultRaw('current_epoch()'),
  },
})

/** The period of the timer's latest score update among a query's events; `null` if there is none. */
export const lastPeriod = raw<
  number | null
>`max(substring(dedupe_key from ${raw.lit(`^${TIMED_KEY}(\\d+)$`)})::int)`

/**
 * What describes the borrower, as one sealed value of the lead: whoever changes a part locks the lead, opens the value, and
 * seals it anew.
 */
export interface Borrower extends Record<(typeof requiredFields)[number], string> {
  notes: string | null
  /** The partner's fields by their names. */
  metadata: Record<string, string>
}

/**
 * The columns of a lead that describe the borrower, under the first of `keys`: sealed, and a hash by which a lead is found by
 * its email address.
 */
export function sealBorrower(leadId: number, borrower: Borrower, keys: readonly Buffer[]) {
  const personal = seal(JSON.stringify(borrower), `leads:${leadId}:personal`, keys)
  return { personal, email_hash: hashesOfEmail(borrower.email, keys)[0] ?? null }
}

/** @throws {SealError} */
export function openBorrower(leadId: number, personal: string, keys: readonly Buffer[]): Borrower {
  return JSON.parse(open(personal, `leads:${leadId}:personal`, keys)) as Borrower
}

/** What leads with this address may have: one for each key. */
export const hashesOfEmail = (email: string, keys: readonly Buffer[]) =>
  keys.map((key) => addressHash(email, key))

/** The time on a lead's own clock: ours, and in a sandbox as far ahead as it was moved. */
const leadNow = raw<Date>`clock_timestamp() + clock_offset * interval '1 second'`

/** When a lead changes: never before it last did, whose time may have been a moment ahead. */
export const leadUpdatedAt = raw<Date>`greatest(leads.updated_at, ${leadNow})`

/** When a lead was closed, on its own clock, which moves on without this; `null` while it is open. */
export const leadClosedAt = raw<Date | null>`closed_at + clock_offset * interval '1 second'`

/** The request that created the lead of a query's row; null if none did. */
export const leadRequest = raw<string | null>`(
  select request_id from deliveries where lead_id = leads.id and sequence = 1
)`

/** A lead with all that its row has, sealed; only of this partner and not erased, if a partner is named. */
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

/** After how many days without an event, by the lead's own clock, somebody should ask about an open lead. */
export const NEWS_WITHIN_DAYS = 365

/** The longest without news first: open leads that are not mortgage ready, which end by themselves. */
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

/** Whether a row of `leads` takes no more milestones: it is closed or erased. */
export const isClosedOrErased = raw<boolean>`closed_at is not null or erased_at is not null`

const selectLead = compiledOnce<{ leadId: number; keys: string[] }>()((sql, value) =>
  sql
    .selectFrom('leads')
    .select(['id', 'partner_id as partnerId', 'partner_lead_id as partnerLeadId', 'status'])
    .select(['next_position as nextPosition', 'next_sequence as nextSequence', 'anchor_at as anchorAt'])
    .select(['clock_offset as clockOffset', 'last_event_at as lastEventAt'])
    .select([isClosedOrErased.as('isClosed'), leadNow.as('now')])
    .select(
      raw<number>`(
        select count(*)::int from lead_events where lead_id = leads.id and event_name = 'score_update'
      )`.as('scoreUpdates'),
    )
    .select(
      raw<Date | null>`case when status = 'mortgage_ready' then (
        select created_at from lead_events where lead_id = leads.id and dedupe_key = 'mortgage_ready'
      ) end`.as('readyAt'),
    )
    .select(
      raw<Record<string, string>>`(
        select coalesce(json_object_agg(dedupe_key, id), '{}') from lead_events
        where lead_id = leads.id and dedupe_key = any(${value('keys')})
      )`.as('known'),
    )
    .select(
      raw<boolean>`next_position = 1 + (select max(position) from lead_events where lead_id = leads.id)`.as(
        'isConsistent',
      ),
    )
    .where('id', '=', value('leadId'))
    .forUpdate(),
)

/**
 * Locks a lead and reads what is known of it. After a wait for the lock, PostgreSQL answers with the row as it is by then
 * but with the events as they were before the wait. Then both are read once more.
 */
export async function lockLead(
  trx: Sql,
  leadId: number,
  items: readonly MilestoneItem[],
): Promise<LockedLead | undefined> {
  const values = { leadId, keys: items.map((item) => item.dedupeKey) }
  const [lead] = await selectLead(trx, values)
  if (lead === undefined || lead.isConsistent) return lead
  const [read] = await selectLead(trx, values)
  return read
}

export type LockedLead = Awaited<ReturnType<typeof selectLead>>[number]
