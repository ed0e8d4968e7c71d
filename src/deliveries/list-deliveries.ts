import { type RawBuilder, sql as raw } from 'kysely'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import { ApiError, invalidPayload } from '../http/errors.ts'
import { oneOf } from '../http/fields.ts'
import type { MilestoneName } from '../leads/milestones.ts'
import { attemptTriggers, deliveryStates, type DeliveryStatus, deliveryStatuses } from './delivery-states.ts'
import { countedOf, isLeased, waitsFor } from './delivery.ts'

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
function deliveryPage(sql: Sql, filter: DeliveryFilter): RawBuilder<Delivered> {
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

/** As it is shown: `held` while the endpoint is paused. */
export const shownState = raw<DeliveryStatus>`case
  when deliveries.state = 'pending' and endpoints.state = 'paused' then 'held' else deliveries.state
end`

/** Whether no attempt at a delivery is in flight, which would decide about the next. */
export const isAtRest = raw<boolean>`not ${isLeased}`

/** Why its next attempt cannot begin; `null` of one that waits for none. */
const openFault = raw<string | null>`case
  when deliveries.state = 'pending' then deliveries.fault
end`

const counted = countedOf('deliveries', 'endpoints')

/** In the lead's time, as its events are; `null` while an attempt is in flight. */
export const nextAttemptAt = raw<Date | null>`case when ${isAtRest}
  then ${counted.nextAttemptAt} + leads.clock_offset * interval '1 second'
end`

/** When a delivery is attempted next; `null` if it is held, settled, in flight, or waits for an earlier one of its lead. */
export function nextAttemptOf<Time>(row: {
  state: DeliveryStatus
  waits_for: unknown
  next_attempt_at: Time
}): Time | null {
  return row.state === 'pending' && row.waits_for === null ? row.next_attempt_at : null
}

/** Deliveries with their latest attempt, the newest first; of one lead for staff, in the order of their sequence. */
export async function findDeliveries(sql: Sql, filter: DeliveryFilter) {
  const deliveries = sql
    .selectFrom(deliveryPage(sql, filter).as('page'))
    .innerJoin('deliveries', 'deliveries.event_id', 'page.event_id')
    .innerJoin('lead_events', 'lead_events.id', 'deliveries.event_id')
    .innerJoin('leads', 'leads.id', 'deliveries.lead_id')
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('attempts')
          .select(['number', 'status', 'error_code', 'hint'])
          .whereRef('attempts.event_id', '=', 'deliveries.event_id')
          .orderBy('number', 'desc')
          .limit(1)
          .as('latest'),
      (join) => join.onTrue(),
    )
    .select(['deliveries.event_id', 'deliveries.lead_id', 'deliveries.partner_id', 'deliveries.sequence'])
    .select(['lead_events.event_name', 'lead_events.created_at', shownState.as('state')])
    .select([counted.failures.as('failures'), 'deliveries.settled_at', nextAttemptAt.as('next_attempt_at')])
    .select(['deliveries.body', openFault.as('fault')])
    .select(raw<boolean>`leads.erased_at is not null`.as('lead_erased'))
    .select(waitsFor.as('waits_for'))
    .select(['latest.number as attempts', 'latest.status as last_status'])
    .select(['latest.error_code as last_error_code', 'latest.hint as last_hint'])
    // a closing has no delivery
    .$narrowType<{ event_name: MilestoneName }>()
  return filter.leadId !== undefined && filter.before === undefined
    ? deliveries.orderBy('deliveries.sequence').execute()
    : deliveries.orderBy('deliveries.event_id', 'desc').execute()
}

/** What routes that show deliveries have in common. */

export const deliveryState = z.enum(deliveryStatuses, { error: oneOf(deliveryStatuses) }).meta({
  id: 'DeliveryState',
  description:
    '`pending`: to be sent. `held`: pending, while your endpoint is paused. `delivered`: your endpoint accepted it. `given_up`: the retry schedule is used up while your endpoint accepted other webhooks; the lead’s next webhook is sent, and resend-webhook sends this one again. `canceled`: our staff left it out.',
})

export const attemptTrigger = z.enum(attemptTriggers).meta({
  id: 'AttemptTrigger',
  description:
    'Why it was made. `scheduled`: by the retry schedule. `resend`: you asked for it. `replay`: our staff did. `probe`: to test whether a paused endpoint works again.',
})

/** For an event that does not exist, and for another partner's. */
export const unknownEvent = () => new ApiError('NOT_FOUND', 'Event not found.')
export const unsentEvent = () => invalidPayload('This event is not sent as a webhook.')

type Row = Awaited<ReturnType<typeof findDeliveries>>[number]

/** When a delivery is attempted next, after which one of its lead, or why it cannot be. */
export function nextText(row: Row): Date | string | null {
  if (row.fault !== null) return row.fault
  return row.state === 'pending' && row.waits_for ? `after ${row.waits_for.sequence}` : nextAttemptOf(row)
}
