import { sql as raw } from 'kysely'
import { makeMonthsOfReads } from '../../../core/audit/statements/months-of-reads.ts'
import { counted, type Retained } from '../../../core/database/retained.ts'

/**
 * Months are dropped once they are old from their first day to their last. A function of the database's owner drops them: the
 * service may not, and that refuses to drop one of this year.
 */
export const oldReads: Retained<{ RETENTION_READS_DAYS: number | null }> = {
  name: 'reads',
  meaning: 'who read whose personal data: deleted by month; for a year at least it is kept',
  days: (settings) => settings.RETENTION_READS_DAYS,

  count: (sql, days) =>
    counted(sql, sql.selectFrom('personal_reads').select('at').where('at', '<', monthBefore(days))),

  async remove(sql, days) {
    const { rows } = await raw<{ removed: number }>`
      select delete_old_personal_reads(${days}) as removed`.execute(sql)
    return { removed: rows[0]?.removed ?? 0, isLast: true }
  },

  upkeep: makeMonthsOfReads,
}

const monthBefore = (days: number) =>
  raw<Date>`date_trunc('month', now() at time zone 'UTC' - ${days} * interval '1 day') at time zone 'UTC'`
