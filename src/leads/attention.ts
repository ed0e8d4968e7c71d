import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { leadsNow } from './lead.ts'

/** After how many days without an event, by the lead's own clock, somebody should ask about an open lead. */
export const NEWS_WITHIN_DAYS = 365

/** The longest without news first: open leads that are not mortgage ready, which end by themselves. */
export function leadsWithoutNews(sql: Sql, limit: number) {
  return sql
    .selectFrom('leads')
    .select(['id as lead_id', 'partner_id', 'status', 'last_event_at'])
    .where('closed_at', 'is', null)
    .where('status', '!=', 'mortgage_ready')
    .where('last_event_at', '<', raw<Date>`${leadsNow} - ${raw.lit(NEWS_WITHIN_DAYS)} * interval '1 day'`)
    .orderBy('last_event_at')
    .orderBy('id')
    .limit(limit)
}
