import { findLeadRecord, type LeadRecord } from '../statements/staff-reads.ts'
import type { Sql } from '../../database/sql.ts'
import { formatTimestamp } from '../../values/timestamps.ts'
import { Refusal } from '../../../staff/refusal.ts'

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
