import { sql as raw } from 'kysely'
import { LEAD_CLOSED_EVENT } from './event-payloads.ts'
import type { AnyCloseReason } from './reasons.ts'
import { endOf } from './score-dates.ts'
import { recordAudit } from '../audit.ts'
import { jsonb, type Sql } from '../database/sql.ts'
import { leadsChange, leadsEnd, leadsNow, takesNoMore } from './lead.ts'
import { newEventId } from './new-lead.ts'

/** The reason of a lead that ends by itself, after mortgage_ready. */
const ENDED: AnyCloseReason = 'mortgage_ready'
/** Between our clocks. */
const SKEW_MS = 60_000

/** Whether a lead takes no more milestones. */
export async function isClosed(sql: Sql, leadId: number): Promise<boolean> {
  const lead = await sql
    .selectFrom('leads')
    .select(takesNoMore.as('isClosed'))
    .where('id', '=', leadId)
    .executeTakeFirst()
  return lead?.isClosed === true
}

/** When a partner's lead was closed, on its own clock, and why; nulls while it is open, `undefined` for no such lead. */
export async function findClosing(sql: Sql, partnerId: number, leadId: number) {
  return sql
    .selectFrom('leads')
    .select([leadsEnd.as('closed_at'), 'close_reason'])
    .where('id', '=', leadId)
    .where('partner_id', '=', partnerId)
    .where('erased_at', 'is', null)
    .executeTakeFirst()
}

/**
 * Closes a lead: no more milestones, no more score updates; open deliveries still go out. list-events has an entry for it.
 *
 * @param by who asked for it, if the audit has no row of that yet.
 * @returns by how many milliseconds the lead's clock is ahead of ours.
 */
export async function closeLead(
  sql: Sql,
  leadId: number,
  reason: AnyCloseReason,
  by?: { actor: 'scenario' | 'temporal'; detail?: Record<string, unknown> },
): Promise<number> {
  await sql.transaction().execute(async (trx) => {
    const closed = await trx
      .updateTable('leads')
      .set({ closed_at: raw<Date>`clock_timestamp()`, close_reason: reason, updated_at: leadsChange })
      .where('id', '=', leadId)
      .where('closed_at', 'is', null)
      .returning(['partner_id as partnerId', leadsEnd.as('closedAt')])
      .executeTakeFirst()
    if (closed === undefined) return
    const { partnerId, closedAt } = closed
    await trx
      .insertInto('lead_events')
      .values({
        id: newEventId(),
        lead_id: leadId,
        partner_id: partnerId,
        position: null,
        event_name: LEAD_CLOSED_EVENT,
        event_payload: jsonb({ reason }),
        dedupe_key: LEAD_CLOSED_EVENT,
        created_at: closedAt ?? new Date(),
      })
      .execute()
    if (by === undefined) return
    const detail = { reason, ...by.detail }
    await recordAudit(trx, by.actor, { action: 'lead.close', outcome: 'done', partnerId, leadId, detail })
  })
  const lead = await sql
    .selectFrom('leads')
    .select('clock_offset')
    .where('id', '=', leadId)
    .executeTakeFirst()
  // a record that was restored may lack the lead
  return (lead?.clock_offset ?? 0) * 1000
}

/**
 * Whether the record has the reason to close a lead: a partner or staff asked for it, it is erased, or it ends by itself.
 * The message itself proves nothing: anybody who reaches Temporal can send it.
 */
export async function isClosedByService(sql: Sql, leadId: number, reason: AnyCloseReason): Promise<boolean> {
  const lead = await sql
    .selectFrom('leads')
    .select([
      raw<boolean>`erased_at is not null`.as('isErased'),
      raw<boolean>`exists (select from audit as begun
        where begun.lead_id = leads.id and begun.action = 'lead.close' and begun.outcome = 'begun' and not exists
          (select from audit as ended where ended.begun_id = begun.id and ended.outcome = 'failed'))`.as(
        'isAsked',
      ),
      raw<Date | null>`(select created_at from lead_events
        where lead_id = leads.id and dedupe_key = 'mortgage_ready')`.as('readyAt'),
      leadsNow.as('now'),
    ])
    .where('id', '=', leadId)
    .executeTakeFirst()
  // a record that was restored may lack the lead
  if (lead === undefined) return true
  const end = endOf(lead.readyAt)
  const isOver = end !== null && end - SKEW_MS <= lead.now.getTime()
  return lead.isErased || lead.isAsked || (reason === ENDED && isOver)
}
