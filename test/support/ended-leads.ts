import { sql as raw } from 'kysely'
import type { Sql } from '../../src/core/database/orm.ts'

/** Leads with their first event that were closed so long ago. */
export async function fillEndedLeads(
  sql: Sql,
  partnerId: number,
  count: number,
  daysAgo: number,
): Promise<void> {
  await raw`
    with made as (
      insert into leads (partner_id, personal, status, next_position, next_sequence,
        last_event_at, created_at, updated_at, closed_at, close_reason)
      select ${partnerId}, 'sealed', 'lead_received', 2, 2, now(), now(), now(),
        now() - ${daysAgo} * interval '1 day', 'withdrew'
      from generate_series(1, ${count}) returning id, partner_id
    )
    insert into lead_events (id, lead_id, partner_id, event_name, position, created_at, dedupe_key)
    select 'evt_' || gen_random_uuid(), id, partner_id, 'lead_received', 1, now(), 'lead_received' from made`.execute(
    sql,
  )
}
