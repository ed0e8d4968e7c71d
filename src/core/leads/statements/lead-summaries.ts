import { sql as raw } from 'kysely'
import { isFirstOpen } from '../../deliveries/statements/first-open.ts'
import { countedOf } from '../../deliveries/statements/round.ts'
import type { Sql } from '../../database/sql.ts'
import type { LeadFacts } from '../decisions/waits-for.ts'

/** A lead without who it is: what staff need to see what it waits for. */
export interface LeadSummary extends LeadFacts {
  partner_name: string
  partner_lead_id: string | null
  created_at: Date
}

/** The newest first. */
export async function leadSummaries(sql: Sql, leadIds: readonly number[]): Promise<LeadSummary[]> {
  if (leadIds.length === 0) return []
  const { rows } = await raw<LeadSummary>`
    select l.id as lead_id, l.partner_id, partners.name as partner_name, l.partner_lead_id, l.status, l.created_at,
      l.erased_at, l.closed_at, l.close_reason, l.workflow_started_at,
      e.state = 'paused' as is_paused, e.url is null as has_no_url,
      first.event_id, first.event_name, first.failures, last.status as last_status,
      last.error_code as last_error_code, given_up.event_id as given_up_event_id
    from leads l
    join partners on partners.id = l.partner_id
    join endpoints e on e.partner_id = l.partner_id
    left join lateral (
      select d.event_id, lead_events.event_name, ${countedOf('d', 'e').failures} as failures
      from deliveries d join lead_events on lead_events.id = d.event_id
      where d.lead_id = l.id and d.state = 'pending' and ${isFirstOpen} limit 1
    ) first on true
    left join lateral (
      select status, error_code from attempts
      where event_id = first.event_id and finished_at is not null order by number desc limit 1
    ) last on true
    left join lateral (
      select event_id from deliveries where lead_id = l.id and state = 'given_up' order by sequence limit 1
    ) given_up on true
    where l.id = any(${leadIds}) order by l.id desc`.execute(sql)
  return rows
}
