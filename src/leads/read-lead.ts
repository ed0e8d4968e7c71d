import type { InHistory } from './event-payloads.ts'
import { optionalFieldNames, returnedFields } from './lead-fields.ts'
import { compiledOnce, type Sql } from '../database/sql.ts'
import { leadsEnd } from './lead.ts'
import { openBorrower, openMetadata, openNotes } from './sealed-lead.ts'

const selectLead = compiledOnce<{ leadId: number; partnerId: number }>()((sql, value) =>
  sql
    .selectFrom('leads')
    .select([
      'id',
      'partner_id',
      ...returnedFields,
      'personal',
      'status',
      'metadata',
      'created_at',
      'updated_at',
    ])
    .select(leadsEnd.as('closed_at'))
    .select('close_reason')
    .where('id', '=', value('leadId'))
    .where('partner_id', '=', value('partnerId'))
    .where('erased_at', 'is', null),
)

/**
 * A lead of this partner; `undefined` for another partner's lead and an erased one, as for one that doesn't exist.
 *
 * @throws {SealError}
 */
export async function findLead(
  { sql, encryptionKeys }: { sql: Sql; encryptionKeys: readonly Buffer[] },
  partnerId: number,
  leadId: number,
) {
  const [row] = await selectLead(sql, { leadId, partnerId })
  // erased
  if (row === undefined || row.personal === null) return undefined
  const { id, partner_id, personal, metadata, ...lead } = row
  return {
    id,
    partner_id,
    ...openBorrower(id, personal, encryptionKeys),
    ...lead,
    metadata: openMetadata(id, metadata, encryptionKeys),
  }
}

/**
 * All that is kept in a lead's row; only of this partner and not erased, if a partner is named. A lead that was erased has
 * no borrower.
 *
 * @throws {SealError}
 */
export async function findWholeLead(
  { sql, encryptionKeys }: { sql: Sql; encryptionKeys: readonly Buffer[] },
  leadId: number,
  partnerId?: number,
) {
  const row = await sql
    .selectFrom('leads')
    .select(['id', 'partner_id', 'personal', ...optionalFieldNames, 'metadata', 'status'])
    .select(['created_at', 'updated_at', 'clock_offset', 'anchor_at', 'workflow_started_at'])
    .select(['onboarding_sent_at', 'close_reason', leadsEnd.as('closed_at')])
    .where('id', '=', leadId)
    .$if(partnerId !== undefined, (query) =>
      query.where('partner_id', '=', partnerId ?? 0).where('erased_at', 'is', null),
    )
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { personal, ...lead } = row
  return {
    ...lead,
    borrower: personal === null ? null : openBorrower(leadId, personal, encryptionKeys),
    notes: openNotes(leadId, lead.notes, encryptionKeys),
    metadata: openMetadata(leadId, lead.metadata, encryptionKeys),
  }
}

export type LeadRow = NonNullable<Awaited<ReturnType<typeof findLead>>>

/** How many events of a lead are read at once. */
export const EVENTS_AT_ONCE = 1000

interface EventsPage {
  leadId: number
  partnerId: number
  after: number
}

const selectEvents = compiledOnce<EventsPage>()((sql, value) =>
  sql
    .selectFrom('lead_events')
    .select(['position', 'event_name', 'event_payload', 'created_at'])
    .where('lead_id', '=', (eb) =>
      eb
        .selectFrom('leads')
        .select('leads.id')
        .where('leads.id', '=', value('leadId'))
        .where('leads.partner_id', '=', value('partnerId'))
        .where('leads.erased_at', 'is', null),
    )
    .where('position', '>', value('after'))
    .$narrowType<InHistory>()
    .orderBy('position')
    .limit(EVENTS_AT_ONCE),
)

/**
 * A lead's history, oldest first, from the event after position `after` on, `EVENTS_AT_ONCE` at most; `undefined` if there is
 * none, or the partner has no such lead, or it is erased. No event of another partner's lead is read, so that the response
 * time reveals nothing about it.
 */
export async function findEvents(sql: Sql, partnerId: number, leadId: number, after = 0) {
  const rows = await selectEvents(sql, { leadId, partnerId, after })
  // every lead has at least its lead_received, so no rows from the beginning on means no such lead
  return rows.length === 0 ? undefined : rows
}

/** Whether a partner has such a lead, and it is not erased. */
export async function ownsLead(sql: Sql, partnerId: number, leadId: number): Promise<boolean> {
  const lead = sql.selectFrom('leads').select('id').where('id', '=', leadId)
  const own = lead.where('partner_id', '=', partnerId).where('erased_at', 'is', null)
  return (await own.executeTakeFirst()) !== undefined
}

/** Events by their ids, with the place of each among the lead's webhooks. */
export async function findRecorded(sql: Sql, eventIds: string[]) {
  if (eventIds.length === 0) return new Map<string, never>()
  const rows = await sql
    .selectFrom('lead_events')
    .leftJoin('deliveries', 'deliveries.event_id', 'lead_events.id')
    .select(['lead_events.id as event_id', 'event_name', 'event_payload', 'created_at', 'sequence'])
    .where('lead_events.id', 'in', eventIds)
    .where('position', 'is not', null)
    .$narrowType<Omit<InHistory, 'position'>>()
    .execute()
  return new Map(rows.map((row) => [row.event_id, row]))
}
