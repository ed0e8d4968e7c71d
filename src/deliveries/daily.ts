import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { type DeliveryState, deliveryStates } from './delivery-states.ts'
import { AFTER_ALL } from './list-deliveries.ts'

/** The smallest id that an event or an attempt of so many days ago can have: a UUID of version 7 begins with its time. */
const idDaysAgo = (prefix: 'evt_' | 'att_', days: number) => raw<string>`(${prefix} || overlay(
  lpad(to_hex((extract(epoch from now() - ${days} * interval '1 day') * 1000)::bigint), 12, '0') placing '-' from 9 for 0))`

/** Of the deliveries in each state, and of the attempts: the newest so many are read, within a second. */
export const NEWEST = 50_000

/** What became of a partner's events of one day, in UTC. */
export interface EventsOfDay {
  day: string
  events: number
  delivered: number
  given_up: number
  canceled: number
  open: number
  /** From recorded to accepted, in milliseconds; `null` if none was. */
  acceptance_p50_ms: number | null
  acceptance_p95_ms: number | null
}

/** When its event was recorded, from the id: a lead's own clock may be ahead. */
const recordedAtOfId = raw<Date>`to_timestamp(('x' || translate(substr(event_id, 5, 13), '-', ''))::bit(48)::bigint / 1000.0)`

/** Compares whole rows, as pages of deliveries do. */
const ofState = (partnerId: number, state: DeliveryState, days: number) => raw`(
  select state, event_id, settled_at from deliveries
  where (state, partner_id, event_id) > (${state}, ${partnerId}::int, ${idDaysAgo('evt_', days)})
    and (state, partner_id, event_id) < (${state}, ${partnerId}::int, ${AFTER_ALL})
  order by state desc, partner_id desc, event_id desc limit ${NEWEST}
)`

/** Events of the last `days`, by day, the latest day first. */
export async function eventsByDay(sql: Sql, partnerId: number, days: number): Promise<EventsOfDay[]> {
  const states = deliveryStates.map((state) => ofState(partnerId, state, days))
  const took = raw`extract(epoch from settled_at - ${recordedAtOfId}) * 1000`
  const { rows } = await raw<EventsOfDay>`
    select to_char(${recordedAtOfId} at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::int as events,
      count(*) filter (where state = 'delivered')::int as delivered,
      count(*) filter (where state = 'given_up')::int as given_up,
      count(*) filter (where state = 'canceled')::int as canceled,
      count(*) filter (where state = 'pending')::int as open,
      percentile_disc(0.5) within group (order by ${took}) filter (where state = 'delivered')::float8 as acceptance_p50_ms,
      percentile_disc(0.95) within group (order by ${took}) filter (where state = 'delivered')::float8 as acceptance_p95_ms
    from (${raw.join(states, raw` union all `)}) as newest
    group by day order by day desc`.execute(sql)
  return rows
}

/** How a partner's endpoint answered on one day, in UTC. */
export interface AttemptsOfDay {
  day: string
  attempts: number
  succeeded: number
  /** Of first attempts, in milliseconds; `null` if there were none. */
  first_p50_ms: number | null
  first_p95_ms: number | null
}

/** Attempts of the last `days` that have ended, by day, the latest day first. */
export async function attemptsByDay(sql: Sql, partnerId: number, days: number): Promise<AttemptsOfDay[]> {
  const isFirst = raw`number = 1 and trigger = 'scheduled'`
  const { rows } = await raw<AttemptsOfDay>`
    select to_char(started_at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::int as attempts,
      count(*) filter (where error_code is null)::int as succeeded,
      percentile_disc(0.5) within group (order by duration_ms) filter (where ${isFirst}) as first_p50_ms,
      percentile_disc(0.95) within group (order by duration_ms) filter (where ${isFirst}) as first_p95_ms
    from (
      select number, trigger, started_at, duration_ms, error_code from attempts
      where (partner_id, id) > (${partnerId}::int, ${idDaysAgo('att_', days)}) and (partner_id, id) < (${partnerId}::int, 'att_g')
        and finished_at is not null and error_code is distinct from 'interrupted'
      order by partner_id desc, id desc limit ${NEWEST}
    ) as newest
    group by day order by day desc`.execute(sql)
  return rows
}
