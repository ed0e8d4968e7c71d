import { sql as raw } from 'kysely'
import type { Sql } from '../../database/orm.ts'

/** Open leads older than `olderThanMs` with no recorded workflow start, except those in `but`; the oldest first. */
export async function unstartedLeads(
  sql: Sql,
  { olderThanMs, but, limit }: { olderThanMs: number; but: readonly number[]; limit: number },
): Promise<number[]> {
  const rows = await sql
    .selectFrom('leads')
    .select('id')
    .where('workflow_started_at', 'is', null)
    .where('closed_at', 'is', null)
    .where('created_at', '<', raw<Date>`now() - ${olderThanMs} * interval '1 millisecond'`)
    .$if(but.length > 0, (query) => query.where('id', 'not in', but))
    .orderBy('created_at')
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

export async function markStarted(sql: Sql, leadId: number): Promise<void> {
  await sql
    .updateTable('leads')
    .set({ workflow_started_at: raw<Date>`clock_timestamp()` })
    .where('id', '=', leadId)
    .where('workflow_started_at', 'is', null)
    .execute()
}
