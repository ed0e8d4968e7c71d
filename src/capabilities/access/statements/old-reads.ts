import { sql as raw } from 'kysely'
import { counted, type Retained } from '../../../core/database/retained.ts'

const BATCH = 500

/** A function of the database's owner deletes them: the service may not, and that refuses to delete one of this year. */
export const oldReads: Retained<{ RETENTION_READS_DAYS: number | null }> = {
  name: 'reads',
  meaning: 'who read whose personal data: deleted; for a year at least it is kept',
  days: (settings) => settings.RETENTION_READS_DAYS,

  count: (sql, days) =>
    counted(
      sql,
      sql
        .selectFrom('personal_reads')
        .select('at')
        .where('at', '<', raw<Date>`now() - ${days} * interval '1 day'`),
    ),

  async remove(sql, days) {
    const { rows } = await raw<{ removed: number }>`
      select delete_old_personal_reads(${days}, ${BATCH}) as removed`.execute(sql)
    const removed = rows[0]?.removed ?? 0
    return { removed, isLast: removed < BATCH }
  },
}
