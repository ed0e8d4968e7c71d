import { sql as raw } from 'kysely'
import { AFTER_ALL } from '../../deliveries/statements/page.ts'
import { recordedAt } from '../../leads/statements/new-lead.ts'
import type { Sql } from '../../database/sql.ts'
import { AFTER_ALL_ATTEMPTS, RECENT } from './health.ts'

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
