import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { sql as raw } from 'kysely'
import { z } from 'zod'
import { recordAudit } from '../audit.ts'
import { jsonb, type Sql } from '../database/sql.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { invalidRequest, unavailable, unknownLead } from '../http/errors.ts'
import { ownLeadId as ofOwnLead, oneOf, timestamp } from '../http/fields.ts'
import { idempotencyKeyOf, idempotencyParameter } from '../http/idempotency.ts'
import { operation } from '../http/operation.ts'
import { closeReason, leadErrors, ofLead, strictBody, success } from '../http/schemas.ts'
import { auditName, formatTimestamp } from '../values.ts'
import { LEAD_CLOSED_EVENT } from './event-payloads.ts'
import { findLeadRecord, leadUpdatedAt, leadClosedAt } from './lead.ts'
import { newEventId } from './new-lead.ts'
import { type AnyCloseReason, closeReasonNames, closeReasons, meaningsOf } from './reasons.ts'
import type { Referrals } from './referrals.ts'

const REASONS = `must be one of ${closeReasonNames.join(', ')}`

const schema = operation({
  operationId: 'closeLead',
  tags: ['Leads'],
  summary: 'Close a lead',
  description:
    'Closes a lead for good, for example because the borrower withdrew. Milestones that have arrived are recorded first; then no more are recorded, and no more score updates are made. Open webhooks are still sent. get-lead and list-leads show when. A repeat changes nothing, and returns when and why the lead was closed. After a 503 the lead may still be closed: send the request again.',
  parameters: [idempotencyParameter('unique to each request', 'close-LOAN-2026-118')],
  body: strictBody(
    {
      lead_id: ofOwnLead,
      reason: z
        .enum(closeReasonNames, { error: oneOf(closeReasonNames) })
        .describe(`Why. ${meaningsOf(closeReasons)}`),
    },
    'lead_id is required',
  ),
  bodyExamples: { 'the borrower withdrew': { lead_id: 1042, reason: 'withdrew' } },
  response: z.object({
    success,
    data: z
      .object({
        lead_id: ofLead,
        reason: closeReason.describe('Why it was closed first.'),
        closed_at: timestamp.describe('When it was closed.'),
      })
      .meta({ id: 'Closing' }),
  }),
  responseDescription: 'The lead is closed.',
  responseExamples: {
    closed: {
      success: true,
      data: { lead_id: 1042, reason: 'withdrew', closed_at: '2026-03-09 10:30:00' },
    },
  },
  errors: [...leadErrors, invalidRequest({ field: 'reason', problem: REASONS })],
})

export interface CloseDependencies extends Pick<RouteDependencies, 'sql'> {
  closeLead: Referrals['close']
}

/** POST /close-lead (extension): closes a lead. */
export const closeLead: FastifyPluginAsyncZod<CloseDependencies> = async (app, { sql, closeLead: close }) => {
  app.post('/close-lead', {
    schema,
    handler: async (request) => {
      const { partnerId } = request
      const { lead_id: leadId, reason } = request.body
      const key = idempotencyKeyOf(request)
      request.leadId = leadId
      let lead = await findLeadRecord(sql, leadId, partnerId)
      if (lead?.closed_at === null) {
        const actor = auditName(request.keyId)
        const row = { action: 'lead.close', partnerId, leadId, detail: { reason } }
        const begunId = await recordAudit(sql, actor, { ...row, outcome: 'begun' })
        await close(leadId, reason, key).catch((err: unknown) => request.log.warn({ err }, 'lead not closed'))
        lead = await findLeadRecord(sql, leadId, partnerId)
        const outcome = lead?.closed_at === null ? 'unknown' : 'done'
        await recordAudit(sql, actor, { ...row, outcome, begunId })
        if (outcome === 'unknown') throw unavailable()
      }
      // unknown, or erased meanwhile
      if (!lead?.closed_at || !lead.close_reason) throw unknownLead()
      return {
        success: true as const,
        data: { lead_id: leadId, reason: lead.close_reason, closed_at: formatTimestamp(lead.closed_at) },
      }
    },
  })
}

/**
 * Closes a lead in the record: no more milestones, no more score updates; open deliveries still go out. list-events has an
 * entry for it.
 *
 * @param actor who closed the lead, for the audit, if neither the partner nor staff did: a scenario, or somebody in Temporal's
 *   Web UI. A lead that ends by itself has no row.
 * @returns by how many milliseconds the lead's clock is ahead of ours.
 */
export async function recordClosing(
  sql: Sql,
  leadId: number,
  reason: AnyCloseReason,
  actor?: 'scenario' | 'temporal',
): Promise<number> {
  return sql.transaction().execute(async (trx) => {
    const closed = await trx
      .updateTable('leads')
      .set({ closed_at: raw<Date>`clock_timestamp()`, close_reason: reason, updated_at: leadUpdatedAt })
      .where('id', '=', leadId)
      .where('closed_at', 'is', null)
      .returning(['partner_id as partnerId', raw<Date>`${leadClosedAt}`.as('closedAt')])
      .returning(
        raw<boolean>`exists (select from audit as begun where begun.lead_id = leads.id
          and begun.action = 'lead.close' and begun.outcome = 'begun' and not exists (
            select from audit as ended where ended.begun_id = begun.id and ended.outcome = 'failed'))`.as(
          'isAsked',
        ),
      )
      .executeTakeFirst()
    if (closed !== undefined) {
      const { partnerId, closedAt, isAsked } = closed
      await trx
        .insertInto('lead_events')
        .values({
          id: newEventId(),
          lead_id: leadId,
          partner_id: partnerId,
          position: 0,
          event_name: LEAD_CLOSED_EVENT,
          event_payload: jsonb({ reason }),
          dedupe_key: LEAD_CLOSED_EVENT,
          created_at: closedAt,
        })
        .execute()
      const row = { action: 'lead.close', outcome: 'done' as const, partnerId, leadId, detail: { reason } }
      if (actor !== undefined && !isAsked && reason !== 'mortgage_ready') await recordAudit(trx, actor, row)
    }
    const clock = trx.selectFrom('leads').select('clock_offset').where('id', '=', leadId)
    // a record that was restored may lack the lead
    return ((await clock.executeTakeFirst())?.clock_offset ?? 0) * 1000
  })
}
