import { findLeadRecord, type LeadRecord } from '../db/leads/staff-reads.ts'
import type { Sql } from '../db/orm.ts'
import { Refusal } from './refusal.ts'

export const noSuchLead = (id: number) =>
  new Refusal(`There is no lead ${id}: use the lead_id that create-lead returned.`)

export async function requireLead(sql: Sql, id: number): Promise<LeadRecord> {
  const lead = await findLeadRecord(sql, id)
  if (lead === undefined) throw noSuchLead(id)
  return lead
}
