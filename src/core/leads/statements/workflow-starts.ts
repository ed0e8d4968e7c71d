import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'

/**
 * The oldest leads without a recorded workflow start, older than `olderThanMs` and not in `but`, in any order: of those that
 * several workers find, each begins with another one.
 */
export async function unstartedLeads(
  sql: Sql,
  { olderThanMs, but, limit }: { olderThanMs: number; but: readonly number[]; limit: number },
): Promise<number[]> {
  const oldest = sql
    .selectFrom('leads')
    .select('id')
    .where('workflow_started_at', 'is', null)
    .where('created_at', '<', raw<Date>`now() - ${olderThanMs} * interval '1 millisecond'`)
    .$if(but.length > 0, (query) => query.where('id', 'not in', but))
    .orderBy('created_at')
    .limit(limit)
    .as('oldest')
  const rows = await sql
    .selectFrom(oldest)
    .select('id')
    .orderBy(raw`random()`)
    .execute()
  return rows.map((row) => row.id)
}

export async function isUnstarted(sql: Sql, leadId: number): Promise<boolean> {
  const unstarted = sql.selectFrom('leads').select('id').where('workflow_started_at', 'is', null)
  return (await unstarted.where('id', '=', leadId).executeTakeFirst()) !== undefined
}

export async function markStarted(sql: Sql, leadId: number): Promise<void> {
  await sql
    .updateTable('leads')
    .set({ workflow_started_at: raw<Date>`clock_timestamp()` })
    .where('id', '=', leadId)
    .where('workflow_started_at', 'is', null)
    .execute()
}
