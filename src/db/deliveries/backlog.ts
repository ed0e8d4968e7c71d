import { sql as raw } from 'kysely'
import type { Sql } from '../orm.ts'

/** What waits, over all partners. */
export interface Backlog {
  /** Leads' first open deliveries that should be sent now. */
  due: number
  /** How long the oldest of them has been due, in seconds; 0 when there is none. */
  oldestDueSeconds: number
  /** Open deliveries to endpoints that are paused. */
  held: number
  /** Settled deliveries that wait to be sent once more. */
  resends: number
  endpoints: { active: number; paused: number; draining: number }
  /** Open leads whose workflow is not known to be started. */
  unstarted: number
  /** How long the oldest of them has waited, in seconds; 0 when there is none. */
  oldestUnstartedSeconds: number
}

/** Counts what waits, in one statement on the partial indexes of what is open. */
export async function readBacklog(sql: Sql): Promise<Backlog> {
  const { rows } = await raw<Backlog>`
    with open as materialized (
      select d.lead_id, d.sequence, d.next_attempt_at, e.state = 'paused' as held
      from deliveries d join endpoints e on e.partner_id = d.partner_id
      where d.state = 'pending'
    ), first as (
      -- those after a lead's first wait for it, however old they are
      select distinct on (lead_id) next_attempt_at from open where not held order by lead_id, sequence
    ), due as (
      select count(*)::int as due,
        coalesce(extract(epoch from clock_timestamp() - min(next_attempt_at)), 0)::float8 as oldest
      from first where next_attempt_at <= clock_timestamp()
    )
    select due.due, due.oldest as "oldestDueSeconds",
      (select count(*)::int from open where held) as held,
      (select count(*)::int from deliveries where resend_requested_at is not null and state <> 'pending') as resends,
      (select json_build_object(
        'active', count(*) filter (where state = 'active'),
        'paused', count(*) filter (where state = 'paused'),
        'draining', count(*) filter (where state = 'draining')
      ) from endpoints where url is not null) as endpoints,
      unstarted.count as unstarted, unstarted.oldest as "oldestUnstartedSeconds"
    from due, (
      select count(*)::int as count,
        coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8 as oldest
      from leads where workflow_started_at is null and closed_at is null
    ) unstarted
  `.execute(sql)
  const [backlog] = rows
  if (backlog === undefined) throw new Error('a count has no row')
  return backlog
}
