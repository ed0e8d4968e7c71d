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

/** Where a partner's feed ends now. */
export async function lastEvent(sql: Sql, partnerId: number) {
  return sql
    .selectFrom('lead_events')
    .select(['lead_id', 'position', raw<string>`txid::text`.as('txid')])
    .where('partner_id', '=', partnerId)
    .where(raw<boolean>`txid < pg_snapshot_xmin(pg_current_snapshot())`)
    .orderBy(raw`lead_events.txid`, 'desc')
    .orderBy('lead_id', 'desc')
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Which of the places have news after them, by their indexes. */
export async function placesWithNews(
  sql: Sql,
  places: readonly { partnerId: number; after: FeedPosition }[],
): Promise<number[]> {
  const { rows } = await raw<{ index: number }>`
    select (place.number - 1)::int as index
    from unnest(
      ${places.map(({ partnerId }) => partnerId)}::int[],
      ${places.map(({ after }) => after.txid)}::text[],
      ${places.map(({ after }) => after.leadId)}::bigint[],
      ${places.map(({ after }) => after.position)}::bigint[]
    ) with ordinality as place (partner_id, txid, lead_id, position, number)
    where exists (
      select from lead_events e
      where e.partner_id = place.partner_id
        and (e.txid, e.lead_id, e.position) > (place.txid::xid8, place.lead_id, place.position)
        and e.txid < pg_snapshot_xmin(pg_current_snapshot())
    )`.execute(sql)
  return rows.map(({ index }) => index)
}
