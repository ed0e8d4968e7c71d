import { sql as raw } from 'kysely'
import type { Sql } from '../../src/database/sql.ts'

/** Takes a lead back to its first events in the record, as a restore does: nothing else of the lead stays. */
export async function forget(sql: Sql, leadId: number, eventsKept: number): Promise<void> {
  const lost = raw`select id from lead_events where lead_id = ${leadId} and (position > ${eventsKept} or position = 0)`
  await sql.transaction().execute(async (trx) => {
    await raw`delete from attempts where event_id in (${lost})`.execute(trx)
    await raw`delete from deliveries where event_id in (${lost})`.execute(trx)
    await raw`delete from lead_events where id in (${lost})`.execute(trx)
    await raw`
      update leads set next_position = ${eventsKept} + 1, closed_at = null, close_reason = null,
        next_sequence = 1 + (select max(sequence) from deliveries where lead_id = leads.id),
        status = (select event_name from lead_events where lead_id = leads.id order by position desc limit 1),
        last_event_at = (select max(created_at) from lead_events where lead_id = leads.id),
        anchor_at = (select created_at from lead_events where lead_id = leads.id and event_name = 'escrow_funded')
      where id = ${leadId}`.execute(trx)
  })
}
