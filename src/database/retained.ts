import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql as raw } from 'kysely'
import type { Sql } from './sql.ts'

/** What a run would remove, counted up to `MOST_COUNTED`, and since when the oldest of it is there. */
interface Counted {
  rows: number
  oldest: Date | null
}

/** A count ends here: it must not take minutes. */
export const MOST_COUNTED = 1_000_000

/** `isLast`: nothing old is left. */
interface Removed {
  removed: number
  isLast: boolean
}

/** A class of data that is removed when it is old, as the settings say. The audit is none: it is never deleted. */
export interface Retained<Settings> {
  /** As staff and the metrics name it. */
  name: string
  /** What is removed, and how, for staff. */
  meaning: string
  /** How old it may become; `null` keeps it forever. */
  days: (settings: Settings) => number | null
  count: (sql: Sql, days: number) => Promise<Counted>
  /** Removes one batch, the oldest first. */
  remove: (sql: Sql, days: number, settings: Settings) => Promise<Removed>
}

/** Retention has stopped before it removed anything wrong, because a clock is wrong; in one line that says what to do. */
export class RetentionHeld extends Error {}

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

const BATCH = 500

/** Counts and deletes rows by their ids, whose date `at` is older than the limit and to which `condition` applies. */
export function oldRows(
  table: string,
  at: string,
  condition: RawBuilder<boolean>,
): Pick<Retained<unknown>, 'count' | 'remove'> {
  const rowsIn = (sql: Sql) => sql as unknown as Kysely<Record<string, { id: number }>>
  const old = (sql: Sql, days: number) =>
    rowsIn(sql)
      .selectFrom(table)
      .where(raw<boolean>`${raw.ref(at)} < now() - ${days} * interval '1 day'`)
      .where(condition)
  return {
    count: (sql, days) => counted(sql, old(sql, days).select(raw<Date>`${raw.ref(at)}`.as('at'))),

    async remove(sql, days) {
      const ids = old(sql, days).select('id').orderBy('id').limit(BATCH)
      const { numDeletedRows } = await rowsIn(sql)
        .deleteFrom(table)
        .where('id', 'in', ids)
        .executeTakeFirstOrThrow()
      return { removed: Number(numDeletedRows), isLast: Number(numDeletedRows) < BATCH }
    },
  }
}
