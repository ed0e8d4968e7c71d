import { defineEntity, p } from '@mikro-orm/core'
import {
  type ClosedPayload,
  type EventPayload,
  type FeedEventName,
  type InHistory,
  LEAD_CLOSED_EVENT,
} from './event-payloads.ts'
import { milestoneNames } from './milestones.ts'
import { instant, oneOf } from '../database/columns.ts'
import type { Sql } from '../database/sql.ts'
import { Lead } from './lead.ts'
import { Partner } from '../partners/partner.ts'

/** An event of a lead's history, or, outside of it, that the lead was closed. */
export const LeadEvent = defineEntity({
  name: 'LeadEvent',
  tableName: 'lead_events',
  properties: {
    /** `evt_<uuidv7>`, the webhook-id of its delivery if it has one. */
    id: p.text().primary(),
    lead: () => p.manyToOne(Lead).deleteRule('restrict'),
    partner: () => p.manyToOne(Partner).deleteRule('restrict'),
    /** Place in the lead's history, 1 for lead_received, without gaps; 0 for a closing, which is not in it. */
    position: p.integer(),
    eventName: p.text().$type<FeedEventName>(),
    eventPayload: p.json<EventPayload | ClosedPayload>().nullable(),
    dedupeKey: p.text(),
    /** Of a score update of the timer's. */
    scorePeriod: p.integer().nullable(),
    createdAt: instant(),
    /** The order in which events became visible, for readers that follow all leads. */
    txid: p.string().columnType('xid8').defaultRaw('pg_current_xact_id()'),
    /** Of the record: transaction ids begin anew in another cluster, and after a restore some come twice. */
    epoch: p.integer().defaultRaw('current_epoch()'),
  },
  checks: [
    {
      name: 'lead_events_event_name_check',
      expression: oneOf('event_name', [...milestoneNames, LEAD_CLOSED_EVENT]),
    },
    {
      name: 'lead_events_history_check',
      expression: `(position = 0) = (event_name = '${LEAD_CLOSED_EVENT}')`,
    },
    { name: 'lead_events_position_check', expression: 'position >= 0' },
    // with the key, it is there once
    {
      name: 'lead_events_score_period_check',
      expression:
        "score_period is null or score_period >= 1 and event_name = 'score_update' and dedupe_key = 'score_update#' || score_period::text",
    },
  ],
  uniques: [
    { name: 'lead_events_position_unique', properties: ['lead', 'position'] },
    { name: 'lead_events_dedupe_key_unique', properties: ['lead', 'dedupeKey'] },
  ],
  indexes: [
    { name: 'lead_events_in_order_index', properties: ['partner', 'epoch', 'txid', 'lead', 'position'] },
  ],
})

/** Events by their ids, with the place of each among the lead's webhooks. */
export async function findRecorded(sql: Sql, eventIds: string[]) {
  const rows = await sql
    .selectFrom('lead_events')
    .leftJoin('deliveries', 'deliveries.event_id', 'lead_events.id')
    .select(['lead_events.id as event_id', 'event_name', 'event_payload', 'created_at', 'sequence'])
    .where('lead_events.id', '=', (eb) => eb.fn.any(eb.val(eventIds)))
    .where('position', '>', 0)
    .$narrowType<InHistory>()
    .execute()
  return new Map(rows.map((row) => [row.event_id, row]))
}
