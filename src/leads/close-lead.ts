import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { auditName, formatTimestamp } from '../values.ts'
import { recordAudit } from '../audit.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { invalidRequest, unavailable, unknownLead } from '../http/errors.ts'
import { ownLeadId as ofOwnLead, oneOf, timestamp } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { closeReason, leadErrors, ofLead, strictBody, success } from '../http/schemas.ts'
import { closeReasonNames, closeReasons } from './reasons.ts'
import { idempotencyKeyOf, idempotencyParameter } from '../http/idempotency.ts'
import { findClosing, isClosed } from './closing.ts'

const REASONS = `must be one of ${closeReasonNames.join(', ')}`

const meanings = Object.entries(closeReasons)
  .map(([name, meaning]) => `\`${name}\`: ${meaning}.`)
  .join(' ')

const schema = operation({
  operationId: 'closeLead',
  tags: ['Leads'],
  summary: 'Close a lead',
  description:
    'Closes a lead for good, for example because the borrower withdrew. What has happened by then is recorded; then no more milestones are recorded, and no more score updates are made. Open webhooks are still sent. get-lead and list-leads show when it was closed. A repeat changes nothing, and returns when and why the lead was closed. After a 503 the lead may still be closed: send the request again.',
  parameters: [idempotencyParameter('unique to each request', 'close-LOAN-2026-118')],
  body: strictBody(
    {
      lead_id: ofOwnLead,
      reason: z.enum(closeReasonNames, { error: oneOf(closeReasonNames) }).describe(`Why. ${meanings}`),
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

type Options = Pick<RouteDependencies, 'sql' | 'closeLead'>

/** POST /close-lead (extension): closes a lead. */
export const closeLead: FastifyPluginAsyncZod<Options> = async (app, { sql, closeLead: close }) => {
  app.post('/close-lead', {
    schema,
    handler: async (request) => {
      const { partnerId, keyId } = request
      const { lead_id: leadId, reason } = request.body
      const key = idempotencyKeyOf(request)
      request.leadId = leadId
      const before = await findClosing(sql, partnerId, leadId)
      if (before === undefined) throw unknownLead()
      if (before.closed_at === null) {
        const actor = auditName(keyId)
        const row = { action: 'lead.close', partnerId, leadId, detail: { reason } }
        const begunId = await recordAudit(sql, actor, { ...row, outcome: 'begun' })
        await close(leadId, reason, key).catch((err: unknown) => request.log.warn({ err }, 'not closed'))
        const outcome = (await isClosed(sql, leadId)) ? 'done' : 'unknown'
        await recordAudit(sql, actor, { ...row, outcome, begunId })
        if (outcome === 'unknown') throw unavailable()
      }
      const { closed_at: at, close_reason: why } = (await findClosing(sql, partnerId, leadId)) ?? {}
      // erased meanwhile
      if (!at || !why) throw unknownLead()
      return {
        success: true as const,
        data: { lead_id: leadId, reason: why, closed_at: formatTimestamp(at) },
      }
    },
  })
}
