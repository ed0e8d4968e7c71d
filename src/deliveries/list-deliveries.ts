import { type RawBuilder, sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { scheduleInRound } from '../endpoints/open-deliveries.ts'
import type { MilestoneName } from '../leads/milestones.ts'
import { deliveryStates, type DeliveryStatus } from './delivery-states.ts'
import { isLeased, waitsFor } from './delivery.ts'

interface DeliveryFilter {
  partnerId?: number | undefined
  leadId?: number | undefined
  eventId?: string | undefined
  /** `pending` includes `held`. */
  states?: readonly DeliveryStatus[] | undefined
  /** Events older than this one. */
  before?: string | undefined
  limit: number
}

/** Sorts after every event's id. */
export const AFTER_ALL = 'evt_g'

/**
 * The newest deliveries in each state, read in the order of the index on state, partner and event: the cost of a page does
 * not depend on how many others there are. Whole rows are compared and ordered, which only that index supports: with `=` on
 * state and partner, PostgreSQL may scan all events by id instead.
 */
function newest({ partnerId, states = deliveryStates, before = AFTER_ALL, limit }: DeliveryFilter) {
  const partner = partnerId === undefined ? raw`true` : raw`e.partner_id = ${partnerId}`
  return raw<{ event_id: string }>`(
    select distinct page.event_id from endpoints e cross join unnest(${states}::text[]) as shown
    cross join lateral (select case shown when 'held' then 'pending' else shown end as state) stored
    cross join lateral (
      select event_id from deliveries d
      where (d.state, d.partner_id, d.event_id) < (stored.state, e.partner_id, ${before})
        and (d.state, d.partner_id, d.event_id) > (stored.state, e.partner_id, '')
      order by d.state desc, d.partner_id desc, d.event_id desc limit ${limit}
    ) page
    where ${partner} and (shown <> 'held' or e.state = 'paused') order by page.event_id desc limit ${limit}
  )`
}

/** As it is shown: `held` while the endpoint is paused. */
const shownState = raw<DeliveryStatus>`case
  when deliveries.state = 'pending' and endpoints.state = 'paused' then 'held' else deliveries.state
end`

const counted = scheduleInRound('deliveries', 'endpoints')

/** On the lead's clock, as the dates of its events are. */
const nextAttemptAt = raw<Date | null>`case when not ${isLeased}
  then ${counted.nextAttemptAt} + leads.clock_offset * interval '1 second'
end`

/**
 * Deliveries with their latest attempt, newest first; those of one lead, without `before`, by sequence. A delivery that is
 * held, settled, in flight, or waits for an earlier one of its lead has no next attempt.
 */
export async function findDeliveries(sql: Sql, filter: DeliveryFilter) {
  const { partnerId, leadId, eventId, states, before, limit } = filter
  let page: RawBuilder<{ event_id: string }> = newest(filter)
  if (leadId !== undefined) page = raw`(select event_id from deliveries where lead_id = ${leadId})`
  if (eventId !== undefined) page = raw`(select ${eventId}::text as event_id)`
  const shown = states?.includes('pending') ? [...states, 'held'] : states
  const rows = await sql
    .selectFrom(page.as('page'))
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
    .select(['deliveries.body', raw<boolean>`leads.erased_at is not null`.as('lead_erased')])
    .select(raw<string | null>`case when deliveries.state = 'pending' then deliveries.fault end`.as('fault'))
    .select(waitsFor.as('waits_for'))
    .select(['latest.number as attempts', 'latest.status as last_status'])
    .select(['latest.error_code as last_error_code', 'latest.hint as last_hint'])
    .$if(partnerId !== undefined, (query) => query.where('deliveries.partner_id', '=', partnerId ?? 0))
    .$if(before !== undefined, (query) => query.where('deliveries.event_id', '<', before ?? ''))
    .$if(shown !== undefined, (query) => query.where(raw<boolean>`${shownState} = any(${shown}::text[])`))
    .orderBy(
      leadId !== undefined && before === undefined ? raw`deliveries.sequence` : raw`deliveries.event_id desc`,
    )
    .limit(limit)
    // a closing has no delivery
    .$narrowType<{ event_name: MilestoneName }>()
    .execute()
  return rows.map((row) => ({
    ...row,
    next_attempt_at: row.state === 'pending' && row.waits_for === null ? row.next_attempt_at : null,
  }))
}

type Row = Awaited<ReturnType<typeof findDeliveries>>[number]

/** When a delivery is attempted next, which one it waits for, or why it cannot be sent. */
export function nextText(row: Row): Date | string | null {
  if (row.fault !== null) return row.fault
  return row.state === 'pending' && row.waits_for ? `after ${row.waits_for.sequence}` : row.next_attempt_at
}
