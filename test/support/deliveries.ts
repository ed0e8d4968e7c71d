import { sql as raw } from 'kysely'
import type { DeliveryState } from '../../src/deliveries/delivery-states.ts'
import type { Sql } from '../../src/database/sql.ts'

/**
 * Commits so many closed leads of a partner, each with one event and its delivery: in one statement, for the tests
 * that need hundreds or thousands. No workflow is started for them.
 *
 * @returns the ids of the events, in the order of their leads.
 */
export async function fillDeliveries(
  sql: Sql,
  partnerId: number,
  count: number,
  state: DeliveryState,
): Promise<string[]> {
  const { rows } = await raw<{ event_id: string }>`
    with lead as (
      insert into leads (partner_id, personal, status, next_position, next_sequence, last_event_at,
        workflow_started_at, closed_at, close_reason, created_at, updated_at)
      select ${partnerId}::int, 'never opened', 'lead_received', 2, 2, now(),
        now(), now(), 'withdrew', now(), now()
      from generate_series(1, ${count}::int)
      returning id, 'evt_' || gen_random_uuid() as event_id
    ), event as (
      insert into lead_events (id, lead_id, partner_id, position, event_name, dedupe_key, created_at)
      select event_id, id, ${partnerId}::int, 1, 'lead_received', 'lead_received', now() from lead
    ), delivery as (
      insert into deliveries (event_id, lead_id, partner_id, sequence, body, state, next_attempt_at, settled_at)
      select event_id, id, ${partnerId}::int, 1,
        json_build_object('type', 'lead_received', 'data',
          json_build_object('event_id', event_id, 'lead_id', id, 'sequence', 1))::text,
        ${state}, now(), case ${state} when 'pending' then null else now() end
      from lead
    )
    select event_id from lead order by id`.execute(sql)
  return rows.map((row) => row.event_id)
}
