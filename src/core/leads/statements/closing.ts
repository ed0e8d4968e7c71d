import { sql as raw } from 'kysely'
import type { AnyCloseReason } from '../decisions/reasons.ts'
import { endOf } from '../decisions/score-dates.ts'
import { recordAudit } from '../../audit/statements/audit.ts'
import type { Sql } from '../../database/orm.ts'
import { leadsNow } from './leads-now.ts'

/** The reason of a lead that ends by itself, after mortgage_ready. */
const ENDED: AnyCloseReason = 'mortgage_ready'
/** Between our clocks. */
const SKEW_MS = 60_000
/** In the audit, of what was asked for in Temporal itself. */
const TEMPORAL = 'temporal'

/**
 * Closes a lead: no more milestones, no more score updates; open deliveries still go out.
 *
 * @param stranger who asked for it, if it was not this service: that is a row of the audit.
 * @returns by how many milliseconds its clock is ahead of ours.
 */
export async function closeLead(
  sql: Sql,
  leadId: number,
  reason: AnyCloseReason,
  stranger?: { identity: string | null },
): Promise<number> {
  await sql.transaction().execute(async (trx) => {
    const closed = await trx
      .updateTable('leads')
      .set({ closed_at: raw<Date>`clock_timestamp()`, close_reason: reason, updated_at: leadsNow })
      .where('id', '=', leadId)
      .where('closed_at', 'is', null)
      .returning('partner_id as partnerId')
      .executeTakeFirst()
    if (closed === undefined || stranger === undefined) return
    const detail = { reason, through: 'temporal', identity: stranger.identity }
    await recordAudit(trx, TEMPORAL, { ...closed, action: 'lead.close', outcome: 'done', leadId, detail })
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
 * Whether the record has the reason to close a lead: staff or a scenario asked for it, it is erased, or it ends by itself.
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
