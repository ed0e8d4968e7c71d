import { type SelectQueryBuilder, sql as raw } from 'kysely'
import type { ErasureTools } from '../../erasure/statements/journal.ts'
import type { Sql } from '../../../core/database/orm.ts'

/** What a run would remove, counted up to `MOST_COUNTED`, and since when the oldest of it is there. */
interface Counted {
  rows: number
  oldest: Date | null
}

/** A count ends here: it must not take minutes. */
export const MOST_COUNTED = 1_000_000

/** A class of data that is removed when it is old. */
export interface Retained {
  count(sql: Sql, days: number): Promise<Counted>
  /** Removes one batch, the oldest first. `isLast`: nothing old is left. */
  remove(sql: Sql, days: number, tools: ErasureTools): Promise<{ removed: number; isLast: boolean }>
}

/** Counts rows that have a date `at`. */
export async function counted<Row extends { at: Date | null }>(
  sql: Sql,
  // eslint-disable-next-line typescript/no-explicit-any
  rows: SelectQueryBuilder<any, any, Row>,
): Promise<Counted> {
  const { rows: answer } = await raw<Counted>`
    select count(*)::int as rows, min(at) as oldest from (${rows.limit(MOST_COUNTED)}) as old`.execute(sql)
  return answer[0] ?? { rows: 0, oldest: null }
}
