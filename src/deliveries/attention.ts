import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { AFTER_ALL } from './list-deliveries.ts'

/** The smallest id that an event or an attempt of so many days ago can have: a UUID of version 7 begins with its time. */
export const idDaysAgo = (prefix: 'evt_' | 'att_', days: number) => raw<string>`(${prefix} || overlay(
  lpad(to_hex((extract(epoch from now() - ${days} * interval '1 day') * 1000)::bigint), 12, '0') placing '-' from 9 for 0))`

interface GivenUp {
  partner_id: number
  partner_name: string
  webhooks: number
  leads: number
  /** The event of the first. */
  event_id: string
}

/**
 * Webhooks of the last `days` that were given up and can be sent again, by partner; `most` of each are counted.
 *
 * Compares whole rows, as pages of deliveries do.
 */
export async function givenUpByPartner(
  sql: Sql,
  { days, most }: { days: number; most: number },
): Promise<GivenUp[]> {
  const { rows } = await raw<GivenUp>`
    select partners.id as partner_id, partners.name as partner_name, count(*)::int as webhooks,
      count(distinct lead_id)::int as leads, min(event_id) as event_id
    from partners cross join lateral (
      select d.event_id, d.lead_id from deliveries d
      where (d.state, d.partner_id, d.event_id) > ('given_up', partners.id, ${idDaysAgo('evt_', days)})
        and (d.state, d.partner_id, d.event_id) < ('given_up', partners.id, ${AFTER_ALL})
      order by d.state, d.partner_id, d.event_id limit ${most}
    ) as given_up join leads on leads.id = lead_id and leads.erased_at is null
    group by partners.id order by count(*) desc, partners.id`.execute(sql)
  return rows
}
