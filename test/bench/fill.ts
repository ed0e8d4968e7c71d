import { sql as raw } from 'kysely'
import type { Sql } from '../../src/db/orm.ts'

/** Adds `leads` leads with `events` events each, whose webhooks are delivered. Answers the first one's id. */
export async function fill(sql: Sql, leads: number, events: number): Promise<number> {
  const { rows } = await raw<{ first: number }>`
    select coalesce(max(id), 0)::int + 1 as first from leads`.execute(sql)
  const first = rows[0]?.first ?? 1
  const last = first + leads - 1
  await raw`
    insert into leads (partner_id, partner_lead_id, first_name, last_name, email, phone, fico_range,
      loan_officer_id, metadata, status, next_position, next_sequence, last_event_at, workflow_started_at,
      created_at, updated_at)
    select 1, 'LOAN-' || n, 'Ada', 'Miller', 'ada@example.com', '+1 555-0100', '550-579', 'LO-1',
      '{"loan_product": "FHA", "property_state": "CA"}', 'score_update', ${events} + 1, ${events} + 1, now(), now(),
      now(), now()
    from generate_series(${first}::int, ${last}::int) n`.execute(sql)
  await raw`
    insert into lead_events (id, lead_id, partner_id, position, event_name, event_payload, dedupe_key, created_at)
    select 'evt_' || lead || '_' || n, lead, 1, n, case n when 1 then 'lead_received' else 'score_update' end,
      '{"experian_gain": 12, "equifax_gain": 9, "transunion_gain": 15, "estimated_time_remaining": "90-120 days"}',
      'score_update:' || n, now()
    from generate_series(${first}::int, ${last}::int) lead, generate_series(1, ${events}::int) n`.execute(sql)
  await raw`vacuum analyze leads, lead_events`.execute(sql)
  return first
}
