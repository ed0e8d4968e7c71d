import type { Sql } from '../../src/database/sql.ts'

/** Damages a lead: without any event, the state of its workflow cannot be made from the record. */
export async function breakLead(sql: Sql, leadId: number): Promise<void> {
  await sql.deleteFrom('deliveries').where('lead_id', '=', leadId).execute()
  await sql.deleteFrom('lead_events').where('lead_id', '=', leadId).execute()
}
