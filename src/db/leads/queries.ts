import { sql as raw } from 'kysely'
import type { Sql } from '../orm.ts'

/** A lead of this partner, or `undefined`: a foreign lead is as unknown as one that never was. */
export async function findLead(sql: Sql, partnerId: number, leadId: number) {
  return sql
    .selectFrom('leads')
    .select([
      'id',
      'partner_id',
      'partner_lead_id',
      'first_name',
      'last_name',
      'email',
      'phone',
      'status',
      'fico_range',
      'loan_officer_id',
      'metadata',
      'created_at',
      'updated_at',
    ])
    .where('id', '=', leadId)
    .where('partner_id', '=', partnerId)
    .executeTakeFirst()
}

export type LeadRow = NonNullable<Awaited<ReturnType<typeof findLead>>>

/**
 * A lead's whole history, oldest first; `undefined` when the partner has no such lead. Whose it is comes first: of a
 * foreign lead not one event is read, so the time of the answer tells nothing about it.
 */
export async function findEvents(sql: Sql, partnerId: number, leadId: number) {
  const rows = await sql
    .selectFrom('lead_events')
    .select(['event_name', 'event_payload', 'created_at'])
    .where('lead_id', '=', (eb) =>
      eb
        .selectFrom('leads')
        .select('leads.id')
        .where('leads.id', '=', leadId)
        .where('leads.partner_id', '=', partnerId),
    )
    .orderBy('position')
    .execute()
  // every lead has at least its lead_received, so no rows means no such lead
  return rows.length === 0 ? undefined : rows
}

/** How many custom fields a lead may have, beside those that the specification names. */
export const MAX_CUSTOM_FIELDS = 50
const NAMED_FIELDS = ['loan_product', 'property_state']

/** The fields of a lead that its partner may change. */
export const changeableFields = ['partner_lead_id', 'loan_officer_id', 'fico_range', 'notes'] as const

/** What is not named stays; `null` removes a field. */
export interface LeadChanges {
  fields: Partial<Record<(typeof changeableFields)[number], string | null>>
  metadata: Record<string, string | null>
}

/**
 * Changes a lead's fields and merges into its metadata. One statement, which PostgreSQL works out anew on what a
 * concurrent one leaves, so that both count.
 */
export async function updateLead(
  sql: Sql,
  partnerId: number,
  leadId: number,
  { fields, metadata }: LeadChanges,
): Promise<'updated' | 'unknown' | 'too_many'> {
  const isEmpty = Object.keys(fields).length + Object.keys(metadata).length === 0
  if (isEmpty) return (await ownsLead(sql, partnerId, leadId)) ? 'updated' : 'unknown'
  const merged = raw<
    Record<string, string>
  >`jsonb_strip_nulls(metadata || ${JSON.stringify(metadata)}::jsonb)`
  const custom = raw<number>`(
    select count(*) from jsonb_object_keys(${merged}) as field where field <> all(${NAMED_FIELDS}))`
  const { numUpdatedRows } = await sql
    .updateTable('leads')
    .set({ ...fields, metadata: merged, updated_at: raw<Date>`clock_timestamp()` })
    .where('id', '=', leadId)
    .where('partner_id', '=', partnerId)
    .where(custom, '<=', MAX_CUSTOM_FIELDS)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows > 0n) return 'updated'
  return (await ownsLead(sql, partnerId, leadId)) ? 'too_many' : 'unknown'
}

/** Whether a partner has such a lead. */
export async function ownsLead(sql: Sql, partnerId: number, leadId: number): Promise<boolean> {
  const lead = sql.selectFrom('leads').select('id').where('id', '=', leadId)
  return (await lead.where('partner_id', '=', partnerId).executeTakeFirst()) !== undefined
}
