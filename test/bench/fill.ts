import { sql as raw } from 'kysely'
import { sealBorrower } from '../../src/leads/sealed-lead.ts'
import type { Sql } from '../../src/database/sql.ts'
import { LEAD } from './lead.ts'

interface Filled {
  sql: Sql
  encryptionKeys: readonly Buffer[]
}

const CHUNK = 10_000
const METADATA = { loan_product: 'FHA', property_state: 'CA' }

/** Adds `leads` leads with `events` events each, whose webhooks are delivered. Answers the first one's id. */
export async function fill({ sql, encryptionKeys }: Filled, leads: number, events: number): Promise<number> {
  const { rows } = await raw<{ first: number }>`
    select coalesce(max(id), 0)::int + 1 as first from leads`.execute(sql)
  const first = rows[0]?.first ?? 1
  const last = first + leads - 1
  for (let id = first; id <= last; id += CHUNK)
    await insertLeads({ sql, encryptionKeys }, id, Math.min(CHUNK, last - id + 1), events)
  await raw`
    insert into lead_events (id, lead_id, partner_id, position, event_name, event_payload, dedupe_key, created_at)
    select 'evt_' || lead || '_' || n, lead, 1, n, case n when 1 then 'lead_received' else 'score_update' end,
      '{"experian_gain": 12, "equifax_gain": 9, "transunion_gain": 15, "estimated_time_remaining": "90-120 days"}',
      'score_update:' || n, now()
    from generate_series(${first}::int, ${last}::int) lead, generate_series(1, ${events}::int) n`.execute(sql)
  await raw`vacuum analyze leads, lead_events`.execute(sql)
  return first
}

async function insertLeads(
  { sql, encryptionKeys }: Filled,
  first: number,
  count: number,
  events: number,
): Promise<void> {
  const leads = Array.from({ length: count }, (_, n) => ({
    id: first + n,
    personal: sealBorrower(first + n, { ...LEAD, notes: null, metadata: METADATA }, encryptionKeys).personal,
  }))
  await raw`
    insert into leads (id, partner_id, partner_lead_id, personal, fico_range, loan_officer_id, status,
      next_position, next_sequence, last_event_at, workflow_started_at, created_at, updated_at)
    select id, 1, 'LOAN-' || id, personal, '550-579', 'LO-1', 'score_update', ${events} + 1, ${events} + 1,
      now(), now(), now(), now()
    from jsonb_to_recordset(${JSON.stringify(leads)}::jsonb) as lead (id int, personal text)`.execute(sql)
  await raw`select setval(pg_get_serial_sequence('leads', 'id'), ${first + count - 1})`.execute(sql)
}
