import { sql as raw } from 'kysely'
import type { Sql } from '../orm.ts'

/** A place in a partner's feed: after this event. */
export interface FeedPosition {
  txid: string
  leadId: number
  position: number
}

/**
 * A partner's events of all leads after a place, in the order in which they were committed. Events of
 * transactions that may still be under way are left for later, with all that came after them: nothing ever
 * appears before a place that was handed out.
 */
export async function eventsAfter(sql: Sql, partnerId: number, after: FeedPosition, limit: number) {
  return sql
    .selectFrom('lead_events')
    .innerJoin('leads', 'leads.id', 'lead_events.lead_id')
    .select(['lead_events.id as event_id', 'event_name', 'event_payload', 'lead_events.created_at'])
    .select(['lead_events.lead_id', 'leads.partner_lead_id', 'position', raw<string>`txid::text`.as('txid')])
    .where('lead_events.partner_id', '=', partnerId)
    .where(
      raw<boolean>`(txid, lead_events.lead_id, position)
        > (${after.txid}::xid8, ${after.leadId}::bigint, ${after.position}::bigint)`,
    )
    .where(raw<boolean>`txid < pg_snapshot_xmin(pg_current_snapshot())`)
    .orderBy('txid')
    .orderBy('lead_events.lead_id')
    .orderBy('position')
    .limit(limit)
    .execute()
}
