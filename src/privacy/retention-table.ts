import { sql as raw } from 'kysely'
import type { Config } from '../config.ts'
import { counted, type Retained } from '../database/retained.ts'
import type { Sql } from '../database/sql.ts'
import { oldAttempts } from '../deliveries/attempt.ts'
import { oldNotices } from '../endpoints/notices.ts'
import { expiredSecrets } from '../endpoints/secrets.ts'
import { oldIdempotencyKeys } from '../http/idempotency.ts'
import { mailedAddresses } from '../leads/onboarding-mail.ts'
import { eraseLeads } from './erase.ts'
import type { ErasureSettings } from './erasure-log.ts'

interface Settings extends ErasureSettings {
  RETENTION_LEADS_DAYS: number | null
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

const endedLeads: Retained<Settings> = {
  name: 'leads',
  meaning: 'leads that ended: erased as staff would, unless held',
  days: (settings) => settings.RETENTION_LEADS_DAYS,
  count: (sql, days) => counted(sql, ended(sql, days).select('closed_at as at')),

  async remove(sql, days, { ERASURE_LOG: logFile }) {
    const rows = await ended(sql, days).select('id').orderBy('closed_at').orderBy('id').limit(BATCH).execute()
    const leadIds = rows.map(({ id }) => id)
    const erasing = { by: 'retention', reason: 'retention' as const, retentionDays: days, logFile }
    const erased = await eraseLeads(sql, leadIds, erasing)
    return { removed: erased.length, isLast: rows.length < BATCH || erased.length === 0 }
  },
}

/** The settings of worker and staff that classes read. */
export type RetentionSettings = Pick<
  Config<'worker'>,
  'ERASURE_LOG' | Extract<keyof Config<'worker'>, `RETENTION_${string}`>
>

/** What is removed when it is old, in the order in which it is removed. */
export const retained: readonly Retained<RetentionSettings>[] = [
  endedLeads,
  oldAttempts,
  oldIdempotencyKeys,
  mailedAddresses,
  oldNotices,
  expiredSecrets,
]
