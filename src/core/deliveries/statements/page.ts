import { type RawBuilder, sql as raw } from 'kysely'
import { deliveryStates, type DeliveryStatus } from '../decisions/delivery.ts'
import type { Sql } from '../../database/sql.ts'

export interface DeliveryFilter {
  partnerId?: number
  leadId?: number
  eventId?: string
  states?: readonly DeliveryStatus[]
  /** Events recorded from `since` on, before `until`. */
  since?: Date
  until?: Date
  /** Events older than this one. */
  before?: string
  limit: number
}

/** Sorts after every event's id. */
export const AFTER_ALL = 'evt_g'

interface Delivered {
  event_id: string
}

/**
 * The deliveries of a page, for a `from`. A partner's page is merged from the newest deliveries in each state, read in
 * the order of the index on state, partner and event: its cost doesn't depend on how many others the partner has. Pages
 * of one lead or event, or of all partners, are short or for staff only.
 */
export function deliveryPage(sql: Sql, filter: DeliveryFilter): RawBuilder<Delivered> {
  const { partnerId, leadId, eventId, states = deliveryStates, limit } = filter
  if (partnerId === undefined || leadId !== undefined || eventId !== undefined)
    return raw`${matching(sql, filter)}`
  // all that are held are pending; each is read once, however often it is named
  const wanted = [...new Set(states)].filter((state) => state !== 'held' || !states.includes('pending'))
  const newest = wanted.map((state) => newestIn(sql, filter, partnerId, state))
  return raw`(
    select event_id from (${raw.join(newest, raw` union all `)}) newest order by event_id desc limit ${limit}
  )`
}

/**
 * Compares and orders whole rows, which only that index supports. With `=` on state and partner, PostgreSQL may scan
 * all events by id instead, if it overestimates how common the state is.
 */
function newestIn(sql: Sql, filter: DeliveryFilter, partnerId: number, status: DeliveryStatus) {
  const isPaused = raw<boolean>`exists (
    select from endpoints where endpoints.partner_id = ${partnerId} and endpoints.state = 'paused'
  )`
  const state = status === 'held' ? 'pending' : status
  const place = raw`(deliveries.state, deliveries.partner_id, deliveries.event_id)`
  return ofTime(sql, filter)
    .where(raw<boolean>`${place} < (${state}, ${partnerId}::int, ${filter.before ?? AFTER_ALL})`)
    .where(raw<boolean>`${place} > (${state}, ${partnerId}::int, '')`)
    .$if(status === 'held', (query) => query.where(isPaused))
    .orderBy('deliveries.state', 'desc')
    .orderBy('deliveries.partner_id', 'desc')
    .orderBy('deliveries.event_id', 'desc')
    .limit(filter.limit)
}

function matching(sql: Sql, filter: DeliveryFilter) {
  const { partnerId, leadId, eventId, states, before, limit } = filter
  const deliveries = ofTime(sql, filter)
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .$if(partnerId !== undefined, (query) => query.where('deliveries.partner_id', '=', partnerId ?? 0))
    .$if(leadId !== undefined, (query) => query.where('deliveries.lead_id', '=', leadId ?? 0))
    .$if(eventId !== undefined, (query) => query.where('deliveries.event_id', '=', eventId ?? ''))
    .$if(states !== undefined, (query) => query.where(inStates(states ?? [])))
    .$if(before !== undefined, (query) => query.where('deliveries.event_id', '<', before ?? ''))
    .limit(limit)
  return leadId !== undefined && before === undefined
    ? deliveries.orderBy('deliveries.sequence')
    : deliveries.orderBy('deliveries.event_id', 'desc')
}

function ofTime(sql: Sql, { since, until }: DeliveryFilter) {
  return sql
    .selectFrom('deliveries')
    .select('deliveries.event_id')
    .$if(since !== undefined || until !== undefined, (query) =>
      query
        .innerJoin('lead_events', 'lead_events.id', 'deliveries.event_id')
        .where('lead_events.created_at', '>=', since ?? raw<Date>`'-infinity'::timestamptz`)
        .where('lead_events.created_at', '<', until ?? raw<Date>`'infinity'::timestamptz`),
    )
}

/** `pending` includes held ones. */
function inStates(states: readonly DeliveryStatus[]) {
  const [held, ...others] = [states.includes('held'), ...states.filter((state) => state !== 'held')]
  const stored =
    others.length === 0 ? raw<boolean>`false` : raw<boolean>`deliveries.state in (${raw.join(others)})`
  if (!held) return stored
  return raw<boolean>`(${stored} or (deliveries.state = 'pending' and endpoints.state = 'paused'))`
}
