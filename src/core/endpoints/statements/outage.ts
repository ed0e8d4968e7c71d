import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'
import { AFTER_ALL_ATTEMPTS, RECENT } from './health.ts'

/**
 * The first failure after the last success of endpoint row `e`, for people: `failing_since` begins anew with a resume,
 * because the pause after days of failures does. Of the latest 1,000 attempts, as far as they called the current URL.
 */
export const outageSince = raw<Date | null>`(
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
