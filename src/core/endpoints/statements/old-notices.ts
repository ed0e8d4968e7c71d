import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'
import { counted, type Retained } from '../../database/retained.ts'

const BATCH = 500

/**
 * Sent long ago, and not the latest of their kind to their partner: by those the service knows what the partner was told of a
 * pause that still lasts.
 */
function old(sql: Sql, days: number) {
  return sql
    .selectFrom('notices')
    .where('owed_at', '<', raw<Date>`now() - ${days} * interval '1 day'`)
    .where('sent_at', '<', raw<Date>`now() - ${days} * interval '1 day'`)
    .where(
      raw<boolean>`exists (select from notices as later where later.partner_id = notices.partner_id
        and later.kind = notices.kind and later.owed_at > notices.owed_at and later.sent_at is not null)`,
    )
}

export const oldNotices: Retained<{ RETENTION_NOTICES_DAYS: number | null }> = {
  name: 'notices',
  meaning: 'emails about endpoints that are sent: deleted, but for the latest of each kind',
  days: (settings) => settings.RETENTION_NOTICES_DAYS,

  count: (sql, days) => counted(sql, old(sql, days).select('sent_at as at')),

  async remove(sql, days) {
    const { numDeletedRows } = await sql
      .deleteFrom('notices')
      .where((eb) =>
        eb(
          eb.refTuple('partner_id', 'kind', 'owed_at'),
          'in',
          old(sql, days)
            .select(['partner_id', 'kind', 'owed_at'])
            .limit(BATCH)
            .$asTuple('partner_id', 'kind', 'owed_at'),
        ),
      )
      .executeTakeFirstOrThrow()
    return { removed: Number(numDeletedRows), isLast: Number(numDeletedRows) < BATCH }
  },
}
