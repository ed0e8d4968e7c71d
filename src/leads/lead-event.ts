import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import type { Sql } from '../database/sql.ts'
import type { EventPayload, FeedEventName, InHistory } from './event-payloads.ts'
import type { AnyCloseReason } from './reasons.ts'
import { TIMED_KEY } from './referral-state.ts'

/** An event of a lead's history, or, outside of it, that the lead was closed. */
export const LeadEvent = defineEntity({
  name: 'LeadEvent',
  tableName: 'lead_events',
  properties: {
    /** `evt_<uuidv7>`, the webhook-id of its delivery if it has one. */
    id: p.text().primary(),
    leadId: p.integer(),
    partnerId: p.integer(),
    /** Place in the lead's history, 1 for lead_received, without gaps; 0 for a closing, which is not in it. */
    position: p.integer(),
    eventName: p.text().$type<FeedEventName>(),
    eventPayload: p.json<EventPayload | { reason: AnyCloseReason }>().nullable(),
    dedupeKey: p.text(),
    createdAt: instant(),
    /** The order in which events became visible, for readers that follow all leads. */
    txid: p.string().columnType('xid8').defaultRaw('pg_current_xact_id()'),
    /** Of the record: transaction ids begin anew in another cluster, and after a restore some come twice. */
    epoch: p.integer().defaultRaw('current_epoch()'),
  },
})

/** The period of the timer's latest score update among a query's events; `null` if there is none. */
export const lastPeriod = raw<
  number | null
>`max(substring(dedupe_key from ${raw.lit(`^${TIMED_KEY}(\\d+)$`)})::int)`

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
