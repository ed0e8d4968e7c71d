import { sql as raw } from 'kysely'
import type { MilestoneName } from '../../domain/milestones.ts'
import { AFTER_ALL } from '../deliveries/page.ts'
import { recordedAt } from '../leads/new-lead.ts'
import type { Sql } from '../orm.ts'

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
  /** `null` while no webhook waits. */
  event_id: string | null
  event_name: MilestoneName
  lead_id: number
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
    select recent.*, e.next_probe_at, oldest.event_id, oldest.lead_id, lead_events.event_name
    from endpoints e
    cross join lateral (
      select count(*)::int as count,
        round(avg((error_code is null)::int), 4)::float8 as success_rate,
        percentile_disc(0.5) within group (order by duration_ms) as duration_p50_ms,
        percentile_disc(0.95) within group (order by duration_ms) as duration_p95_ms
      from (
        select endpoint_revision, error_code, duration_ms from attempts
        where (partner_id, id) > (${partnerId}::int, '')
          and (partner_id, id) < (${partnerId}::int, ${AFTER_ALL_ATTEMPTS})
          and finished_at is not null and error_code is distinct from 'interrupted'
        order by partner_id desc, id desc limit ${RECENT}
      ) latest
      where endpoint_revision >= e.url_revision
    ) recent
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
  const { next_probe_at, event_id, event_name, lead_id, ...recent_attempts } = row
  const oldest_waiting =
    event_id === null ? null : { event_id, event_name, lead_id, waiting_since: recordedAt(event_id) }
  return { recent_attempts, oldest_waiting, next_probe_at }
}

export type EndpointReading = Awaited<ReturnType<typeof readHealth>>
