import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'

interface Unstarted {
  leads: number
  partners: number
  since: Date | null
}

/** Leads that have waited for their workflow for `olderThanMs`; `most` at most are counted, from an index of them alone. */
export async function countUnstarted(sql: Sql, olderThanMs: number, most: number): Promise<Unstarted> {
  const { rows } = await raw<Unstarted>`
    select count(*)::int as leads, count(distinct partner_id)::int as partners, min(created_at) as since from (
      select partner_id, created_at from leads
      where workflow_started_at is null
        and created_at < clock_timestamp() - ${olderThanMs} * interval '1 millisecond'
      order by created_at limit ${most}
    ) as unstarted`.execute(sql)
  return rows[0] ?? { leads: 0, partners: 0, since: null }
}
