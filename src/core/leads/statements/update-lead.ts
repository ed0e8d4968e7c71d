import { sql as raw } from 'kysely'
import type { ChangeableField } from '../decisions/lead-fields.ts'
import type { Sql } from '../../database/sql.ts'
import { leadsChange } from './leads-now.ts'
import { ownsLead } from './partner-reads.ts'
import { sealMetadata } from './sealed-lead.ts'

/** The limit of custom fields, without those that the specification names. */
export const MAX_CUSTOM_FIELDS = 50
const NAMED_FIELDS = ['loan_product', 'property_state']

/** What is not named stays; `null` removes a field. */
export interface LeadChanges {
  fields: Partial<Record<ChangeableField, string | null>>
  metadata: Record<string, string | null>
}

/**
 * Changes a lead's fields and merges its metadata, in one statement: concurrent changes both count. Metadata of the same
 * name as a changed field goes: it was stored before the lead had the field, and would show again when that is removed.
 */
export async function updateLead(
  { sql, encryptionKeys }: { sql: Sql; encryptionKeys: readonly Buffer[] },
  partnerId: number,
  leadId: number,
  { fields, metadata }: LeadChanges,
): Promise<'updated' | 'unknown' | 'too_many'> {
  const isEmpty = Object.keys(fields).length + Object.keys(metadata).length === 0
  if (isEmpty) return (await ownsLead(sql, partnerId, leadId)) ? 'updated' : 'unknown'
  // before any of them is encrypted
  if (customFieldsIn(metadata) > MAX_CUSTOM_FIELDS)
    return (await ownsLead(sql, partnerId, leadId)) ? 'too_many' : 'unknown'
  const replaced = Object.fromEntries(Object.keys(fields).map((name) => [name, null]))
  const changes = JSON.stringify({ ...sealMetadata(leadId, metadata, encryptionKeys), ...replaced })
  const merged = raw<Record<string, string>>`jsonb_strip_nulls(metadata || ${changes}::jsonb)`
  const fits = raw<boolean>`${MAX_CUSTOM_FIELDS} >= (
    select count(*) from jsonb_object_keys(${merged}) as field where field <> all(${NAMED_FIELDS}))`
  const own = await sql
    .with('own', (cte) =>
      cte
        .selectFrom('leads')
        .select(['id', fits.as('fits')])
        .where('id', '=', leadId)
        .where('partner_id', '=', partnerId)
        .where('erased_at', 'is', null)
        // as concurrent changes leave it
        .forNoKeyUpdate(),
    )
    .with('changed', (cte) =>
      cte
        .updateTable('leads')
        .from('own')
        .set({ ...fields, metadata: merged, updated_at: leadsChange })
        .whereRef('leads.id', '=', 'own.id')
        .where('own.fits', '=', true),
    )
    .selectFrom('own')
    .select('fits')
    .executeTakeFirst()
  if (own === undefined) return 'unknown'
  return own.fits ? 'updated' : 'too_many'
}

/** How many a lead has at least, once they are stored. */
function customFieldsIn(metadata: LeadChanges['metadata']): number {
  const stored = Object.entries(metadata).filter(([, value]) => value !== null)
  return stored.filter(([name]) => !NAMED_FIELDS.includes(name)).length
}
