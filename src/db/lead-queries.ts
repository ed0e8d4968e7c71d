import { sql as raw } from 'kysely'
import type { Sql } from './orm.ts'

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

/** A lead's whole history, oldest first; `undefined` when the partner has no such lead. */
export async function findEvents(sql: Sql, partnerId: number, leadId: number) {
  const rows = await sql
    .selectFrom('lead_events')
    .select(['event_name', 'event_payload', 'created_at'])
    .where('lead_id', '=', leadId)
    .where('partner_id', '=', partnerId)
    .orderBy('position')
    .execute()
  // every lead has at least its lead_received, so no rows means no such lead
  return rows.length === 0 ? undefined : rows
}

/** How many custom fields a lead may have, beside those that the specification names. */
export const MAX_CUSTOM_FIELDS = 50
const NAMED_FIELDS = ['loan_product', 'property_state']

/**
 * Merges `changes` into a lead's metadata: a string sets a field, `null` removes it, others stay.
 * One statement, so that two concurrent merges both count.
 */
export async function mergeMetadata(
  sql: Sql,
  partnerId: number,
  leadId: number,
  changes: Record<string, string | null>,
): Promise<'merged' | 'unknown' | 'too_many'> {
  return sql.transaction().execute(async (trx) => {
    const lead = await trx
      .selectFrom('leads')
      .select('metadata')
      .where('id', '=', leadId)
      .where('partner_id', '=', partnerId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (lead === undefined) return 'unknown'
    const merged = Object.entries({ ...lead.metadata, ...changes }).filter(([, value]) => value !== null)
    if (merged.filter(([field]) => !NAMED_FIELDS.includes(field)).length > MAX_CUSTOM_FIELDS)
      return 'too_many'
    if (Object.keys(changes).length === 0) return 'merged'
    await trx
      .updateTable('leads')
      .set({
        metadata: raw`${JSON.stringify(Object.fromEntries(merged))}::jsonb`,
        updated_at: raw`clock_timestamp()`,
      })
      .where('id', '=', leadId)
      .execute()
    return 'merged'
  })
}
