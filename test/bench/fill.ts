import { sql as raw } from 'kysely'
import { sealBorrower } from '../../src/leads/lead.ts'
import { LEAD } from '../support/leads.ts'
import type { Deployment } from './servers.ts'

/** Leads that can be decrypted; the others have another lead's ciphertext of the same length. */
const READABLE = 1000
const EVENTS = 10

/**
 * Gives the partner of an empty database so many leads, at least a thousand, with ten events each. No workflow runs.
 *
 * @returns a thousand ids, from all over the table.
 */
export async function fillLeads(
  { sql, partner, encryptionKeys }: Deployment,
  leads: number,
): Promise<number[]> {
  const borrower = { ...LEAD, notes: null, metadata: { loan_product: 'FHA', property_state: 'CA' } }
  const sealed = (id: number) => ({ id, personal: sealBorrower(id, borrower, encryptionKeys).personal })
  const { personal } = sealed(0)
  const readable = Array.from({ length: READABLE }, (_, n) => sealed(1 + n * Math.floor(leads / READABLE)))
  await raw`
    insert into leads (id, partner_id, partner_lead_id, personal, fico_range, loan_officer_id, status,
      next_position, next_sequence, last_event_at, workflow_started_at, created_at, updated_at)
    select lead, ${partner.id}::int, 'LOAN-' || lead, coalesce(readable.personal, ${personal}), '550-579', 'LO-1',
      'score_update', ${EVENTS} + 1, ${EVENTS} + 1,
      now(), now(), now(), now()
    from generate_series(1, ${leads}::int) lead
    left join jsonb_to_recordset(${JSON.stringify(readable)}::jsonb) as readable (id int, personal text)
      on readable.id = lead`.execute(sql)
  await raw`
    insert into lead_events (id, lead_id, partner_id, position, event_name, event_payload, dedupe_key, created_at)
    select 'evt_' || lead || '_' || n, lead, ${partner.id}::int, n,
      case n when 1 then 'lead_received' else 'score_update' end,
      '{"experian_gain": 12, "equifax_gain": 9, "transunion_gain": 15, "estimated_time_remaining": "90-120 days"}',
      'score_update:' || n, now()
    from generate_series(1, ${EVENTS}::int) n, generate_series(1, ${leads}::int) lead`.execute(sql)
  await raw`vacuum analyze leads, lead_events`.execute(sql)
  return readable.map(({ id }) => id)
}
