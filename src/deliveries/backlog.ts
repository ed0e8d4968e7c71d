import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { scheduleInRound } from '../endpoints/open-deliveries.ts'

/** What waits to be sent or started, of all partners. */
export interface Backlog {
  /** Leads' first open deliveries that are due, to endpoints that accept webhooks. */
  due: number
  /** How long the oldest of them has been due, in seconds; 0 when there is none. */
  oldestDueSeconds: number
  /** Open deliveries to paused endpoints. */
  held: number
  /** `failing`: active, but without a success since an attempt failed. */
  endpoints: { active: number; failing: number; paused: number }
  /** How long the oldest lead without a known workflow has waited, in seconds; 0 when there is none. */
  oldestUnstartedSeconds: number
}

/** Counts what waits, in one statement on the partial indexes of what is open. */
export async function readBacklog(sql: Sql): Promise<Backlog> {
  const { rows } = await raw<Backlog>`
    with open as materialized (
      select d.lead_id, d.sequence, ${scheduleInRound('d', 'e').nextAttemptAt} as next_attempt_at,
        e.state = 'paused' as held,
        -- other endpoints may get few requests at a time, so more workers would not help
        e.state = 'active' and e.round = e.woken_round
          and coalesce(e.failing_since > clock_timestamp() - interval '1 minute', true) as takes
      from deliveries d join endpoints e on e.partner_id = d.partner_id
      where d.state = 'pending'
    ), first as (
      select distinct on (lead_id) next_attempt_at, takes
      from open where not held order by lead_id, sequence
    ), due as (
      select count(*)::int as due,
        coalesce(extract(epoch from clock_timestamp() - min(next_attempt_at)), 0)::float8 as oldest
      from first where takes and next_attempt_at <= clock_timestamp()
    )
    select due.due, due.oldest as "oldestDueSeconds",
      (select count(*)::int from open where held) as held,
      (select json_build_object(
        'active', count(*) filter (where state = 'active' and failing_since is null),
        'failing', count(*) filter (where state = 'active' and failing_since is not null),
        'paused', count(*) filter (where state = 'paused')
      ) from endpoints where url is not null) as endpoints,
      (select coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8
      from leads where workflow_started_at is null) as "oldestUnstartedSeconds"
    from due`.execute(sql)
  const [backlog] = rows
  if (backlog === undefined) throw new Error('a count has no row')
  return backlog
}
