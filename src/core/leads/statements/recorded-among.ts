import { sql as raw } from 'kysely'
import type { Sql } from '../../database/orm.ts'

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

/** When a lead was created, and whether it is erased; `undefined` if there is no such lead. */
export async function findLifeOf(
  sql: Sql,
  leadId: number,
): Promise<{ createdAt: Date; isErased: boolean } | undefined> {
  return sql
    .selectFrom('leads')
    .select(['created_at as createdAt', raw<boolean>`erased_at is not null`.as('isErased')])
    .where('id', '=', leadId)
    .executeTakeFirst()
}
