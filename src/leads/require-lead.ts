import { type Command, Option } from 'commander'
import type { Sql } from '../database/sql.ts'
import { matching, oneOf } from '../staff/arguments.ts'
import { Refusal } from '../staff/refusal.ts'
import { formatTimestamp } from '../values.ts'
import type { InHistory } from './event-payloads.ts'
import { leadsEnd } from './lead.ts'
import { REFERENCE } from './reasons.ts'
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

export const noSuchLead = (id: number) =>
  new Refusal(`There is no lead ${id}: use the lead_id that create-lead returned.`)

/** @throws {Refusal} if there is no such lead, or it is erased and `evenErased` is not set. */
export async function requireLead(
  sql: Sql,
  id: number,
  { evenErased = false }: { evenErased?: boolean } = {},
): Promise<LeadRecord> {
  const lead = await findLeadRecord(sql, id)
  if (lead === undefined) throw noSuchLead(id)
  const { erased_at: erasedAt } = lead
  if (erasedAt !== null && !evenErased)
    throw new Refusal(
      `Lead ${id} was erased at ${formatTimestamp(erasedAt)} UTC: see "audit list --lead ${id}".`,
    )
  return lead
}

/** Options of a command that cannot be undone, or that staff may have to justify. */
export interface Given<Reason extends string> {
  reason: Reason
  /** A case number. */
  reference?: string | undefined
}

const RULE = '1 to 40 capital letters, digits and hyphens, such as CASE-26-118'
const referenceOf = matching(REFERENCE, `Use ${RULE}: a case number, no personal data.`)

/** Gives a command `--reason`, which is one of `reasons`, and `--reference`. Its help says what each reason means. */
export function addReason(
  command: Command,
  reasons: Readonly<Record<string, string>>,
  { isOptional = false }: { isOptional?: boolean } = {},
): Command {
  const names = Object.keys(reasons)
  const meanings = Object.entries(reasons).map(([name, meaning]) => `  ${name.padEnd(20)}${meaning}`)
  const reason = new Option('--reason <reason>', `why: one of ${names.join(', ')}`)
  return command
    .addOption(reason.argParser(oneOf(names)).makeOptionMandatory(!isOptional))
    .option('--reference <number>', `a case number of yours: ${RULE}`, referenceOf)
    .addHelpText('after', ['\nReasons:', ...meanings].join('\n'))
}

/** As the audit takes it. */
export const detailOf = ({ reason, reference }: Given<string>) => ({
  reason,
  ...(reference !== undefined && { reference }),
})
