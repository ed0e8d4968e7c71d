import type { Sql } from '../orm.ts'

/** Which of a lead's milestones are recorded, by their keys. */
export async function recordedAmong(
  sql: Sql,
  leadId: number,
  dedupeKeys: readonly string[],
): Promise<Set<string>> {
  if (dedupeKeys.length === 0) return new Set()
  const rows = await sql
    .selectFrom('lead_events')
    .select('dedupe_key')
    .where('lead_id', '=', leadId)
    .where('dedupe_key', 'in', dedupeKeys)
    .execute()
  return new Set(rows.map((row) => row.dedupe_key))
}

/** `undefined` if there is no such lead. */
export async function createdAtOf(sql: Sql, leadId: number): Promise<Date | undefined> {
  const lead = await sql.selectFrom('leads').select('created_at').where('id', '=', leadId).executeTakeFirst()
  return lead?.created_at
}
