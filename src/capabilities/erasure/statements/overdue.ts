import { sql as raw } from 'kysely'
import type { Sql } from '../../../core/database/orm.ts'

/** From when on an erasure is overdue: it takes seconds, its workflow is looked at each minute, and emails take their time. */
export const overdueAt = raw<Date>`case when erasures.erased_at is not null then erasures.erased_at + interval '15 minutes'
  when is_announced and told_at is null
  then requested_at + interval '1 day' else due_at + interval '15 minutes' end`

interface Overdue {
  /** Erasures that should have been carried out, or announced. */
  count: number
  /** How long the oldest of them has been overdue, in seconds; 0 when there is none. */
  oldestSeconds: number
}

/** Reads the partial index of those that are open. */
export async function countOverdue(sql: Sql): Promise<Overdue> {
  const { rows } = await raw<Overdue>`
    select count(*)::int as count,
      coalesce(extract(epoch from clock_timestamp() - min(at)), 0)::float8 as "oldestSeconds"
    from (
      select ${overdueAt} as at from erasures join leads on leads.id = erasures.lead_id
      where canceled_at is null and checked_at is null and held_at is null
    ) waiting where at < clock_timestamp()`.execute(sql)
  return rows[0] ?? { count: 0, oldestSeconds: 0 }
}
