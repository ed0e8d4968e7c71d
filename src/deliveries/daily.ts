import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { recordedAt } from '../leads/new-lead.ts'
import { idDaysAgo } from './attention.ts'
import { type DeliveryState, deliveryStates } from './delivery-states.ts'
import { countedOf } from './delivery.ts'
import { AFTER_ALL } from './list-deliveries.ts'

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

/** What waits, over all partners. */
export interface Backlog {
  /** Leads' first open deliveries that should be sent now, to endpoints that take what they get. */
  due: number
  /** How long the oldest of them has been due, in seconds; 0 when there is none. */
  oldestDueSeconds: number
  /**
   * Since when the oldest of them, due or not, has waited, in seconds since its event was recorded, whatever it waits
   * for; 0 when there is none. Deliveries that are held do not count.
   */
  oldestUndeliveredSeconds: number
  /** Open deliveries to endpoints that are paused. */
  held: number
  /** `failing`: active, and every attempt since then has failed. */
  endpoints: { active: number; failing: number; paused: number }
  /** How long the oldest open lead whose workflow is not known to be started has waited, in seconds; 0 when there is none. */
  oldestUnstartedSeconds: number
}

/** Counts what waits, in one statement on the partial indexes of what is open. */
export async function readBacklog(sql: Sql): Promise<Backlog> {
  const { rows } = await raw<Omit<Backlog, 'oldestUndeliveredSeconds'> & Oldest>`
    with open as materialized (
      select d.lead_id, d.sequence, d.event_id, ${countedOf('d', 'e').nextAttemptAt} as next_attempt_at,
        e.state = 'paused' as held,
        -- the others may get few requests, so that theirs are late however many workers there are
        e.state = 'active' and e.round = e.woken_round and coalesce(e.failing_since > clock_timestamp() - interval '1 minute', true) as takes
      from deliveries d join endpoints e on e.partner_id = d.partner_id
      where d.state = 'pending'
    ), first as (
      -- those after a lead's first wait for it, however old they are
      select distinct on (lead_id) next_attempt_at, event_id, takes
      from open where not held order by lead_id, sequence
    ), due as (
      select count(*)::int as due,
        coalesce(extract(epoch from clock_timestamp() - min(next_attempt_at)), 0)::float8 as oldest
      from first where takes and next_attempt_at <= clock_timestamp()
    )
    select due.due, due.oldest as "oldestDueSeconds",
      clock_timestamp() as now,
      -- ids of events are in the order of their time
      (select min(event_id) from first) as "oldestId",
      (select count(*)::int from open where held) as held,
      (select json_build_object(
        'active', count(*) filter (where state = 'active' and failing_since is null),
        'failing', count(*) filter (where state = 'active' and failing_since is not null),
        'paused', count(*) filter (where state = 'paused')
      ) from endpoints where url is not null) as endpoints,
      unstarted.oldest as "oldestUnstartedSeconds"
    from due, (
      select coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8 as oldest
      from leads where workflow_started_at is null
    ) unstarted
  `.execute(sql)
  const [backlog] = rows
  if (backlog === undefined) throw new Error('a count has no row')
  const { oldestId, now, ...counts } = backlog
  const ageMs = oldestId === null ? 0 : now.getTime() - recordedAt(oldestId).getTime()
  return { ...counts, oldestUndeliveredSeconds: Math.max(0, ageMs / 1000) }
}

interface Oldest {
  oldestId: string | null
  now: Date
}
