import { sql as raw } from 'kysely'
import { leadsNow } from '../../../core/leads/statements/leads-now.ts'
import type { Sql } from '../../../core/database/sql.ts'

/**
 * How long a lead's first open webhook had failed on the lead's clock, in milliseconds, when its latest attempt was made:
 * what production's clock would say of its endpoint, if that accepted nothing since. The waits between the attempts say it,
 * because attempts and the endpoint keep our time. It cannot be longer than the event is old.
 *
 * @returns 0 if nothing is open, it has not failed, or the endpoint accepted something since.
 */
export async function failingForMs(sql: Sql, leadId: number): Promise<number> {
  const { rows } = await raw<{ ms: number | null }>`
    select (1000 * extract(epoch from least(
      coalesce(
        sum(attempts.next_attempt_at - attempts.finished_at) filter (where attempts.number < latest.number),
        interval '0'
      ),
      max(${leadsNow} - lead_events.created_at)
    )))::float8 as ms
    from leads
    join lateral (
      select event_id from deliveries
      where lead_id = leads.id and state = 'pending' order by sequence limit 1
    ) open on true
    join lead_events on lead_events.id = open.event_id
    join endpoints on endpoints.partner_id = leads.partner_id
    join attempts on attempts.event_id = open.event_id
      and attempts.trigger = 'scheduled' and attempts.finished_at >= endpoints.failing_since
    cross join lateral (
      select max(number) as number from attempts last
      where last.event_id = open.event_id and last.trigger = 'scheduled'
    ) latest
    where leads.id = ${leadId}`.execute(sql)
  return rows[0]?.ms ?? 0
}
