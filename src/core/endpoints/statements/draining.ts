import { sql as raw } from 'kysely'
import { RETRY_DELAYS_MS } from '../../deliveries/decisions/retry-schedule.ts'
import { SET_FROM_NOW } from './endpoint.ts'
import type { Sql } from '../../database/orm.ts'
import { DAY_MS } from '../../values/durations.ts'

/** A draining in progress, identified by `since`, to the microsecond. */
export interface Draining {
  partnerId: number
  since: string
  /** Deliveries were canceled when it began. */
  fromNow: boolean
}

export async function findDraining(sql: Sql, endpointId: number): Promise<Draining | undefined> {
  const row = await sql
    .selectFrom('endpoints')
    .select(['partner_id', 'reason', raw<string>`since::text`.as('since')])
    .where('id', '=', endpointId)
    .where('state', '=', 'draining')
    .executeTakeFirst()
  return row && { partnerId: row.partner_id, since: row.since, fromNow: row.reason === SET_FROM_NOW }
}

/**
 * Restarts the schedules of open deliveries, for the next leads of a draining in the order of their ids. Failed attempts since
 * the draining began count as the first of the new schedule, so those deliveries are not tried at once.
 *
 * @returns the leads to wake; none when all are done.
 */
export async function renewSchedules(
  sql: Sql,
  { partnerId, since, fromNow }: Draining,
  afterLeadId: number,
  limit: number,
): Promise<number[]> {
  const page = await sql
    .selectFrom('deliveries')
    .select('lead_id')
    .distinct()
    .where('partner_id', '=', partnerId)
    .where('lead_id', '>', afterLeadId)
    .where((eb) => {
      const leftOut = eb.and([
        eb('state', '=', 'canceled'),
        eb('settled_at', '>=', raw<Date>`${since}::timestamptz`),
      ])
      return fromNow ? eb.or([eb('state', '=', 'pending'), leftOut]) : eb('state', '=', 'pending')
    })
    .orderBy('lead_id')
    .limit(limit)
    .execute()
  const leadIds = page.map((row) => row.lead_id)
  if (leadIds.length === 0) return []
  await raw`
    with open as materialized (
      select event_id from deliveries
      where lead_id = any(${leadIds}) and state = 'pending'
      order by lead_id, sequence
      for update
    ), tried as (
      select open.event_id, count(attempts.id)::int as tries,
        bool_or(attempts.response_headers ->> 'retry-after' is not null) as is_told_when
      from open left join attempts on attempts.event_id = open.event_id and attempts.trigger = 'scheduled'
        and attempts.started_at >= ${since}::timestamptz
        -- neither one that is under way, which has none
        and attempts.error_code <> 'interrupted'
      group by open.event_id
    )
    update deliveries set
      failures = least(failures, tries),
      last_but_one_at = case when failures <= tries then last_but_one_at end,
      next_attempt_at = case
        when tries = 0 then clock_timestamp()
        when failures <= tries or is_told_when then next_attempt_at
        else least(next_attempt_at, clock_timestamp() + interval '1 millisecond'
          * coalesce((${[...RETRY_DELAYS_MS]}::float8[])[tries + 1], ${DAY_MS}))
      end
    from tried
    where deliveries.event_id = tried.event_id`.execute(sql)
  return leadIds
}

/** `since` as the prefix of event ids from that time: ids don't depend on a lead's clock. */
const SINCE_HEX = raw`lpad(to_hex((extract(epoch from endpoints.since) * 1000)::bigint), 12, '0')`

/**
 * Makes a drained endpoint `active` once no lead's first open delivery from before is due.
 *
 * @returns false while one is due; true once the endpoint is active, or this draining is over for another reason.
 */
export async function finishDraining(sql: Sql, endpointId: number, since: string): Promise<boolean> {
  const ours = raw<boolean>`id = ${endpointId} and state = 'draining' and since = ${since}::timestamptz`
  const { rows } = await raw<{ finished: boolean }>`
    with finished as (
      update endpoints set state = 'active', reason = null, since = now()
      where ${ours} and not exists (
        select from deliveries
        where deliveries.partner_id = endpoints.partner_id
          and deliveries.state = 'pending'
          and deliveries.next_attempt_at <= clock_timestamp()
          and deliveries.event_id < 'evt_' || overlay(${SINCE_HEX} placing '-' from 9 for 0)
          and not exists (
            select from deliveries earlier
            where earlier.lead_id = deliveries.lead_id
              and earlier.sequence < deliveries.sequence
              and earlier.state = 'pending'
          )
      )
      returning id
    )
    select exists (select from finished) or not exists (select from endpoints where ${ours}) as finished
  `.execute(sql)
  return rows[0]?.finished === true
}

/** How many requests to a partner's endpoint are in flight. */
export async function requestsInFlight(sql: Sql, partnerId: number): Promise<number> {
  const { count } = await sql
    .selectFrom('deliveries')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('partner_id', '=', partnerId)
    .where('lease', 'is not', null)
    .where('leased_until', '>', raw<Date>`clock_timestamp()`)
    .executeTakeFirstOrThrow()
  return Number(count)
}
