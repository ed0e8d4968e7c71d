import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { isFileFault } from '../database/errors.ts'
import type { Sql } from '../database/sql.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { ApiError, unavailable, unknownLead } from '../http/errors.ts'
import { ownLeadId, oneOf, timestamp } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { leadErrors, ofLead, strictBody, success } from '../http/schemas.ts'
import { answerOnce, keyedOperation } from '../http/idempotency.ts'
import { findLeadRecord } from '../leads/lead.ts'
import {
  erasureReasonNames,
  erasureReasons,
  type Hold,
  holdReasons,
  meaningsOf,
  withReference,
} from '../leads/reasons.ts'
import { auditName, formatTimestamp } from '../values.ts'
import { eraseLeads } from './erase.ts'

type Options = Pick<RouteDependencies, 'sql' | 'erasureLog'>

const leadHeld = ({ reason, reference }: Hold) => {
  const why = withReference(holdReasons[reason], reference)
  return new ApiError('LEAD_HELD', `The lead is under a legal hold and cannot be erased: ${why}.`)
}

const schema = operation({
  operationId: 'eraseLead',
  tags: ['Leads'],
  summary: 'Erase a borrower’s personal data',
  description:
    'Erases the personal data of a lead at once and for good: name, email address, phone number, notes, metadata, and what belongs to them. No more webhooks are sent, and calls for the lead return 404, as for a lead that does not exist. list-events and get-deliveries keep its ids and milestones. With an `Idempotency-Key`, a repeat within 24 hours gets the same response.',
  ...keyedOperation,
  body: strictBody(
    {
      lead_id: ownLeadId,
      reason: z
        .enum(erasureReasonNames, { error: oneOf(erasureReasonNames) })
        .nullish()
        .describe(`Why. ${meaningsOf(erasureReasons)}`),
    },
    'lead_id is required',
  ),
  bodyExamples: { lead: { lead_id: 1042, reason: 'borrower_request' } },
  response: z.object({
    success,
    data: z.object({ lead_id: ofLead, erased_at: timestamp }).meta({ id: 'Erasure' }),
  }),
  responseDescription: 'The lead is erased.',
  responseExamples: {
    erased: { success: true, data: { lead_id: 1042, erased_at: '2026-03-09 10:30:00' } },
  },
  errors: [
    ...leadErrors,
    leadHeld({ reason: 'litigation', reference: '26-118' }),
    new ApiError('IDEMPOTENCY_CONFLICT'),
  ],
})

/** POST /erase-lead (extension): erases a borrower's personal data. */
export const eraseLead: FastifyPluginAsyncZod<Options> = async (app, { sql, erasureLog: logFile }) => {
  app.post('/erase-lead', {
    schema,
    handler: async (request, reply) => {
      const { partnerId, keyId } = request
      const { lead_id: lead, reason = null } = request.body
      request.leadId = lead
      const erasing = { by: auditName(keyId), detail: { reason }, partnerId, logFile }
      const { answer } = await answerOnce(sql, 'erase-lead', [request, reply], async (its) => {
        const leads = await eraseLeads(its, [lead], erasing).catch((err: unknown) => {
          if (!isFileFault(err)) throw err
          request.log.error({ err }, 'not erased: the erasure log cannot be written')
          throw unavailable()
        })
        if (leads.length === 0) throw await whyNotErased(its, partnerId, lead)
        return { answer: { lead_id: lead, erased_at: formatTimestamp(new Date()) } }
      })
      return { success: true as const, data: answer }
    },
  })
}

async function whyNotErased(sql: Sql, partnerId: number, leadId: number): Promise<ApiError> {
  const lead = await findLeadRecord(sql, leadId, partnerId)
  if (!lead?.hold_reason) return unknownLead()
  return leadHeld({ reason: lead.hold_reason, reference: lead.hold_reference })
}
