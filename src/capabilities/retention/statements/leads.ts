import { sql as raw } from 'kysely'
import { checkErasures } from '../../erasure/statements/check.ts'
import { eraseLeads } from '../../erasure/statements/erase.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { counted, type Retained } from './retained.ts'

/** Each has about ten webhooks with their attempts: a batch holds its locks for a tenth of a second. */
const BATCH = 100

/** Leads that ended so long ago, apart from those that are held or whose webhooks are being sent at this moment. */
function ended(sql: Sql, days: number) {
  return sql
    .selectFrom('leads')
    .where('closed_at', 'is not', null)
    .where('erased_at', 'is', null)
    .where('held_at', 'is', null)
    .where('closed_at', '<', raw<Date>`now() - ${days} * interval '1 day'`)
    .where(
      raw<boolean>`not exists (select from deliveries where lead_id = leads.id and leased_until > now())`,
    )
}

/** Leads that a run would erase. */
export async function countEndedLeads(sql: Sql, days: number): Promise<number> {
  return (await endedLeads.count(sql, days)).rows
}

/** They are erased as staff would: with a line in the journal, and a certificate, but without an email for each. */
export const endedLeads: Retained = {
  count: (sql, days) => counted(sql, ended(sql, days).select('closed_at as at')),

  async remove(sql, days, tools) {
    const rows = await ended(sql, days).select('id').orderBy('closed_at').orderBy('id').limit(BATCH).execute()
    const erasing = { by: 'retention', reason: 'retention' as const, retentionDays: days, isQuiet: true }
    const leadIds = rows.map(({ id }) => id)
    const erased = await eraseLeads(sql, leadIds, tools, erasing)
    await checkErasures(sql, erased)
    return { removed: erased.length, isLast: rows.length < BATCH || erased.length === 0 }
  },
}
