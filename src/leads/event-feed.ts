import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { bodyOf, sequenceOf } from '../deliveries/delivery.ts'

/** A place in a partner's feed: after this event. */
export interface FeedPosition {
  epoch: number
  txid: string
  lead_id: number
  position: number
}

/** Before every event. */
export const BEGINNING: FeedPosition = { epoch: 0, txid: '0', lead_id: 0, position: 0 }

const PLACE = raw`(lead_events.epoch, lead_events.txid, lead_events.lead_id, lead_events.position)`

const literal = ({ epoch, txid, lead_id, position }: FeedPosition) =>
  raw`(${epoch}::int, ${txid}::xid8, ${lead_id}::bigint, ${position}::bigint)`

const epochAndTxid = ['lead_events.epoch', raw<string>`lead_events.txid::text`.as('txid')] as const

/**
 * Events of transactions that may still be under way are left for later, with all that came after them: nothing ever
 * appears before a place that was handed out. Those of an earlier epoch may be from another cluster.
 */
const isSettled = raw<boolean>`(lead_events.epoch < current_epoch()
  or lead_events.txid < pg_snapshot_xmin(pg_current_snapshot()))`

/** A partner's events of all leads after a place, in the order in which they were committed; with the body of each webhook. */
export async function eventsAfter(
  sql: Sql,
  partnerId: number,
  after: FeedPosition,
  limit: number,
  { webhooks } = { webhooks: false },
) {
  return (
    sql
      .selectFrom('lead_events')
      .innerJoin('leads', 'leads.id', 'lead_events.lead_id')
      .select(['lead_events.id as event_id', 'event_name', 'event_payload', 'lead_events.created_at'])
      .select(['lead_events.lead_id', 'leads.partner_lead_id', ...epochAndTxid])
      .select(['position', sequenceOf('lead_events.id').as('sequence')])
      .$if(webhooks, (query) => query.select(bodyOf('lead_events.id').as('webhook_body')))
      .where('lead_events.partner_id', '=', partnerId)
      .where(raw<boolean>`${PLACE} > ${literal(after)}`)
      .where(isSettled)
      .orderBy('lead_events.epoch')
      // not the text of that name in the result, in which 1000 comes before 999
      .orderBy('lead_events.txid')
      .orderBy('lead_events.lead_id')
      .orderBy('lead_events.position')
      .limit(limit)
      .execute()
  )
}

/** The last event of a partner's feed: of all, or up to a place, which may be that event's own. */
export async function lastEvent(sql: Sql, partnerId: number, upTo?: FeedPosition) {
  return sql
    .selectFrom('lead_events')
    .select(['lead_id', 'position', raw<number>`current_epoch()`.as('current_epoch'), ...epochAndTxid])
    .where('partner_id', '=', partnerId)
    .where(isSettled)
    .where(upTo === undefined ? raw<boolean>`true` : raw<boolean>`${PLACE} <= ${literal(upTo)}`)
    .orderBy('epoch', 'desc')
    .orderBy(raw`lead_events.txid`, 'desc')
    .orderBy('lead_id', 'desc')
    .orderBy('lead_events.position', 'desc')
    .limit(1)
    .executeTakeFirst()
}
