import { sql as raw } from 'kysely'
import type { AnyCloseReason } from '../decisions/reasons.ts'
import type { Closed } from '../decisions/referral.ts'
import { endOf } from '../decisions/score-dates.ts'
import { recordAudit } from '../../audit/statements/audit.ts'
import type { Sql } from '../../database/orm.ts'
import { insertClosedWebhook } from './closed-webhook.ts'
import { takesNoMore } from './lock-lead.ts'
import { leadsChange, leadsEnd, leadsNow } from './leads-now.ts'
import type { WebhookBody } from './new-lead.ts'

/** The reason of a lead that ends by itself, after mortgage_ready. */
const ENDED: AnyCloseReason = 'mortgage_ready'
/** Between our clocks. */
const SKEW_MS = 60_000
/** In the audit, of what was asked for in Temporal itself. */
const TEMPORAL = 'temporal'

/** Whether a lead takes no more milestones. */
export async function isClosed(sql: Sql, leadId: number): Promise<boolean> {
  const lead = await sql
    .selectFrom('leads')
    .select(takesNoMore.as('isClosed'))
    .where('id', '=', leadId)
    .executeTakeFirst()
  return lead?.isClosed === true
}

/**
 * Closes a lead: no more milestones, no more score updates; open deliveries still go out, and so does the webhook that tells
 * a partner who asked for it.
 *
 * @param stranger who asked for it, if it was not this service: that is a row of the audit.
 */
export async function closeLead(
  sql: Sql,
  leadId: number,
  reason: AnyCloseReason,
  toBody: WebhookBody,
  stranger?: { identity: string | null },
): Promise<Closed> {
  await sql.transaction().execute(async (trx) => {
    const closed = await trx
      .updateTable('leads')
      .set({ closed_at: raw<Date>`clock_timestamp()`, close_reason: reason, updated_at: leadsChange })
      .where('id', '=', leadId)
      .where('closed_at', 'is', null)
      .returning(['partner_id as partnerId', 'partner_lead_id as partnerLeadId', leadsEnd.as('closedAt')])
      .returning(['next_sequence as nextSequence', 'generation'])
      .executeTakeFirst()
    if (closed === undefined) return
    const { partnerId, closedAt, ...lead } = closed
    await insertClosedWebhook(
      trx,
      { ...lead, leadId, partnerId, reason, closedAt: closedAt ?? new Date() },
      toBody,
    )
    if (stranger === undefined) return
    const detail = { reason, through: 'temporal', identity: stranger.identity }
    await recordAudit(trx, TEMPORAL, { action: 'lead.close', outcome: 'done', partnerId, leadId, detail })
  })
  const lead = await sql
    .selectFrom('leads')
    .select(['clock_offset', raw<number>`next_sequence - 1`.as('last')])
    .where('id', '=', leadId)
    .executeTakeFirst()
  // a record that was restored may lack the lead
  return { offset: (lead?.clock_offset ?? 0) * 1000, last: lead?.last ?? 0 }
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
