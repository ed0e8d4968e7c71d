import type { Sql } from '../../database/sql.ts'
import type { InHistory } from '../decisions/closed-event.ts'
import { leadsEnd } from './leads-now.ts'
import { openBorrower, openMetadata, openNotes } from './sealed-lead.ts'

/** A lead of any partner with all that is recorded of it; who the borrower is, is sealed. */
export async function findLeadRecord(sql: Sql, leadId: number) {
  return (
    sql
      .selectFrom('leads')
      .innerJoin('partners', 'partners.id', 'leads.partner_id')
      .selectAll('leads')
      // on the lead's own clock, as its events are
      .select(leadsEnd.as('closed_at'))
      .select('partners.name as partner_name')
      .where('leads.id', '=', leadId)
      .executeTakeFirst()
  )
}

export type LeadRecord = NonNullable<Awaited<ReturnType<typeof findLeadRecord>>>

/**
 * A lead as staff see it; one that was erased has no borrower.
 *
 * @throws {SealError}
 */
export function openRecord(
  { personal, email_hash: _, ...lead }: LeadRecord,
  encryptionKeys: readonly Buffer[],
) {
  return {
    ...lead,
    ...(personal !== null && openBorrower(lead.id, personal, encryptionKeys)),
    notes: openNotes(lead.id, lead.notes, encryptionKeys),
    metadata: openMetadata(lead.id, lead.metadata, encryptionKeys),
  }
}

export type OpenedRecord = ReturnType<typeof openRecord>

export async function findLeadEvents(sql: Sql, leadId: number) {
  return sql
    .selectFrom('lead_events')
    .select(['position', 'id as event_id', 'event_name', 'event_payload', 'created_at'])
    .where('lead_id', '=', leadId)
    .where('position', 'is not', null)
    .$narrowType<InHistory>()
    .orderBy('position')
    .execute()
}

/** A lead's attempts, in the order in which they were made. */
export async function findLeadAttempts(sql: Sql, leadId: number) {
  return sql
    .selectFrom('attempts')
    .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
    .select(['attempts.event_id', 'number', 'trigger', 'started_at', 'finished_at', 'duration_ms'])
    .select(['url', 'address', 'status', 'error_code', 'hint'])
    .where('deliveries.lead_id', '=', leadId)
    .orderBy('deliveries.sequence')
    .orderBy('number')
    .execute()
}
