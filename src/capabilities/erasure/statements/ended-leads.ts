import { sql as raw } from 'kysely'
import { counted, type Retained } from '../../../core/database/retained.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { checkErasures } from './check.ts'
import { eraseLeads } from './erase.ts'
import { type ErasureSettings, erasureTools } from './journal.ts'
import { lackingLines } from './journal-lines.ts'
import { confirmLeads, requireFewLeads } from './retention-ceiling.ts'

interface Settings extends ErasureSettings {
  RETENTION_LEADS_DAYS: number | null
  RETENTION_LEADS_MOST_A_DAY: number
}

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

const count: Retained<Settings>['count'] = (sql, days) =>
  counted(sql, ended(sql, days).select('closed_at as at'))

/** They are erased as staff would: with a line in the journal, and a certificate, but without an email for each. */
export const endedLeads: Retained<Settings> = {
  name: 'leads',
  meaning: 'leads that ended: erased as staff would, unless held',
  days: (settings) => settings.RETENTION_LEADS_DAYS,
  count,

  async remove(sql, days, settings) {
    const rows = await ended(sql, days).select('id').orderBy('closed_at').orderBy('id').limit(BATCH).execute()
    const erasing = { by: 'retention', reason: 'retention' as const, retentionDays: days, isQuiet: true }
    const leadIds = rows.map(({ id }) => id)
    const erased = await eraseLeads(sql, leadIds, erasureTools(settings), erasing)
    await checkErasures(sql, erased)
    return { removed: erased.length, isLast: rows.length < BATCH || erased.length === 0 }
  },

  remedy: (sql, settings) => lackingLines(sql, erasureTools(settings)),

  ceiling: {
    async require(sql, days, settings) {
      const { rows } = await count(sql, days)
      await requireFewLeads(sql, rows, settings.RETENTION_LEADS_MOST_A_DAY)
    },
    confirm: confirmLeads,
  },
}
