import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { countedOf, isFirstOpen } from '../deliveries/delivery.ts'
import { AFTER_ALL, isAtRest } from '../deliveries/list-deliveries.ts'
import type { MilestoneName } from '../leads/milestones.ts'
import { recordedAt } from '../leads/new-lead.ts'

/** The latest attempts of a partner that its endpoint's figures are about. */
const RECENT = 1000
/** Sorts after every attempt's id. */
const AFTER_ALL_ATTEMPTS = 'att_g'

interface Row {
  count: number
  success_rate: number | null
  duration_p50_ms: number | null
  duration_p95_ms: number | null
  next_probe_at: Date | null
  next_attempt_at: Date | null
  last_success_at: Date | null
  last_error: LastError | null
  /** `null` while no webhook waits. */
  event_id: string | null
  event_name: MilestoneName
  lead_id: number
}

/** The latest attempt that failed. */
interface LastError {
  /** ISO 8601. */
  at: string
  status: number | null
  error_code: string
  hint: string | null
}

/**
 * How a partner's endpoint is doing: figures of its recent attempts, the webhook that has waited longest, the next probe.
 *
 * The figures are about the partner's latest 1,000 attempts that ended, as far as they called the current URL, so that
 * they don't blame a new URL for the failures of the one before. Limited first: it reads no more for a new URL.
 *
 * Compares and orders whole rows, as pages of deliveries do: with `=` on the partner, PostgreSQL may scan all partners'
 * rows by id.
 */
export async function readHealth(sql: Sql, partnerId: number) {
  const { rows } = await raw<Row>`
    with latest as materialized (
      select id, endpoint_revision, error_code, status, hint, duration_ms, finished_at from attempts
      where (partner_id, id) > (${partnerId}::int, '')
        and (partner_id, id) < (${partnerId}::int, ${AFTER_ALL_ATTEMPTS})
        and finished_at is not null and error_code is distinct from 'interrupted'
      order by partner_id desc, id desc limit ${RECENT}
    )
    select recent.*, e.next_probe_at, oldest.event_id, oldest.lead_id, lead_events.event_name,
      case e.state when 'active' then next.at end as next_attempt_at,
      (
        select json_build_object('at', finished_at, 'status', status, 'error_code', error_code, 'hint', hint)
        from latest where error_code is not null and endpoint_revision >= e.url_revision order by id desc limit 1
      ) as last_error
    from endpoints e
    cross join lateral (
      select count(*)::int as count,
        round(avg((error_code is null)::int), 4)::float8 as success_rate,
        percentile_disc(0.5) within group (order by duration_ms) as duration_p50_ms,
        percentile_disc(0.95) within group (order by duration_ms) as duration_p95_ms,
        max(finished_at) filter (where error_code is null) as last_success_at
      from latest
      where endpoint_revision >= e.url_revision
    ) recent
    left join lateral (
      select ${countedOf('d', 'e').nextAttemptAt} as at from deliveries d
      where partner_id = e.partner_id and state = 'pending' and ${isFirstOpen}
        and ${isAtRest}
      order by next_attempt_at limit 1
    ) next on true
    left join lateral (
      select event_id, lead_id from deliveries
      where (state, partner_id, event_id) > ('pending', ${partnerId}::int, '')
        and (state, partner_id, event_id) < ('pending', ${partnerId}::int, ${AFTER_ALL})
      order by state, partner_id, event_id limit 1
    ) oldest on true
    left join lead_events on lead_events.id = oldest.event_id
    where e.partner_id = ${partnerId}`.execute(sql)
  const [row] = rows
  if (row === undefined) throw new Error('a partner has no endpoint')
  const { next_probe_at, next_attempt_at, last_success_at, last_error, ...rest } = row
  const { event_id, event_name, lead_id, ...recent_attempts } = rest
  const oldest_waiting =
    event_id === null ? null : { event_id, event_name, lead_id, waiting_since: recordedAt(event_id) }
  return { recent_attempts, last_success_at, last_error, oldest_waiting, next_attempt_at, next_probe_at }
}

export type EndpointReading = Awaited<ReturnType<typeof readHealth>>

/**
 * The first failure after the last success of endpoint row `e`, for people: `failing_since` begins anew with a resume,
 * because the pause after days of failures does. Of the latest 1,000 attempts, as far as they called the current URL.
 */
const outageSince = raw<Date | null>`(
  select min(finished_at) from (
    select trigger, finished_at, bool_or(error_code is null) over (order by id desc) as is_over
    from (
      select id, trigger, error_code, finished_at, endpoint_revision from attempts
      where (partner_id, id) > (e.partner_id, '') and (partner_id, id) < (e.partner_id, ${AFTER_ALL_ATTEMPTS})
        and finished_at is not null and error_code is distinct from 'interrupted'
      order by partner_id desc, id desc limit ${RECENT}
    ) latest where endpoint_revision >= e.url_revision
  ) attempts where not is_over and trigger = 'scheduled'
)`

/** Since when a partner's endpoint has failed, whoever resumed it meanwhile; `null` while it works. */
export async function failingSince(sql: Sql, partnerId: number): Promise<Date | null> {
  const { rows } = await raw<{ since: Date | null }>`
    select least(e.failing_since, ${outageSince}) as since
    from endpoints e where e.partner_id = ${partnerId} and e.failing_since is not null`.execute(sql)
  return rows[0]?.since ?? null
}

interface EndedAttempt {
  status: number | null
  error_code: string | null
  hint: string | null
}

/** The first attempt that ended since the endpoint was last changed, paused or resumed. */
export async function firstAttemptSince(sql: Sql, partnerId: number): Promise<EndedAttempt | undefined> {
  const { rows } = await raw<EndedAttempt>`
    select status, error_code, hint from (
      select id, endpoint_revision, status, error_code, hint from attempts
      where (partner_id, id) > (${partnerId}::int, '') and (partner_id, id) < (${partnerId}::int, ${AFTER_ALL_ATTEMPTS})
        and finished_at is not null and error_code is distinct from 'interrupted'
      order by partner_id desc, id desc limit ${RECENT}
    ) latest
    where endpoint_revision = (select revision from endpoints where partner_id = ${partnerId})
    order by id limit 1`.execute(sql)
  return rows[0]
}

/** What `partner list` shows of an endpoint. */
export interface Figures {
  /** Since when the oldest open webhook has waited; `null` if none is open. */
  oldest_undelivered_at: Date | null
  /** Of the attempts of 24 hours at the current URL, the latest 1,000 at most, from 0 to 1; `null` if there were none. */
  success_rate: number | null
}

/** By partner. Reads a thousand attempts of each, and the first of its open deliveries, both by their index. */
export async function figuresByPartner(
  sql: Sql,
  partnerIds: readonly number[],
): Promise<Map<number, Figures>> {
  const { rows } = await raw<{ partner_id: number; event_id: string | null; success_rate: number | null }>`
    select e.partner_id, oldest.event_id, recent.success_rate
    from endpoints e
    cross join lateral (
      select round(avg((error_code is null)::int), 4)::float8 as success_rate from (
        select error_code, endpoint_revision, finished_at from attempts
        where (partner_id, id) > (e.partner_id, '') and (partner_id, id) < (e.partner_id, ${AFTER_ALL_ATTEMPTS})
          and finished_at is not null and error_code is distinct from 'interrupted'
        order by partner_id desc, id desc limit ${RECENT}
      ) latest where endpoint_revision >= e.url_revision and finished_at > now() - interval '24 hours'
    ) recent
    left join lateral (
      select event_id from deliveries
      where (state, partner_id, event_id) > ('pending', e.partner_id, '')
        and (state, partner_id, event_id) < ('pending', e.partner_id, ${AFTER_ALL})
      order by state, partner_id, event_id limit 1
    ) oldest on true
    where e.partner_id = any(${partnerIds})`.execute(sql)
  return new Map(
    rows.map(({ partner_id: id, event_id: event, success_rate }) => [
      id,
      { oldest_undelivered_at: event === null ? null : recordedAt(event), success_rate },
    ]),
  )
}
