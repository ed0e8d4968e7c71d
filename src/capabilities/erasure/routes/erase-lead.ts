import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { auditName } from '../../../core/audit/decisions/audit-name.ts'
import { type ErasureDates, requestErasure } from '../statements/requests.ts'
import { ERASURE_DELAY_DAYS } from '../decisions/erasure.ts'
import {
  erasureReasonNames,
  erasureReasons,
  type Hold,
  holdReasons,
  withReference,
} from '../../../core/leads/decisions/reasons.ts'
import { formatTimestamp } from '../../../core/values/timestamps.ts'
import type { RouteDependencies } from '../../../core/http/dependencies.ts'
import { ApiError, unknownLead } from '../../../core/http/errors.ts'
import { answerOnce, keyedOperation } from '../../../core/idempotency/routes/idempotency-key.ts'
import { leadId, oneOf, timestamp } from '../../../core/http/fields.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { leadErrors, strictBody } from '../../../core/http/schemas.ts'
import { ofLead, success } from '../../../core/http/response-fields.ts'

export interface ErasureDependencies {
  /** Starts what erases a lead on its day, without waiting; if that fails, the sweep does. */
  startErasure: (leadId: number) => void
}

type Options = Pick<RouteDependencies, 'sql' | 'environment'> & ErasureDependencies

const leadHeld = ({ reason, reference }: Hold) => {
  const why = withReference(holdReasons[reason], reference)
  return new ApiError('LEAD_HELD', `The lead is under a legal hold and cannot be erased: ${why}.`)
}

const meanings = Object.entries(erasureReasons)
  .map(([name, meaning]) => `\`${name}\`: ${meaning}.`)
  .join(' ')

const body = strictBody(
  {
    lead_id: leadId,
    reason: z
      .enum(erasureReasonNames, { error: oneOf(erasureReasonNames) })
      .nullish()
      .describe(`Why, for the certificate. ${meanings}`),
  },
  'lead_id is required',
)

const schema = operation({
  operationId: 'eraseLead',
  client: { call: 'leads.erase', positional: ['lead_id'], result: 'erasure', prints: ['due_at'] },
  tags: ['Leads'],
  summary: 'Erase a borrower’s personal data',
  description: `Requests that the personal data of a lead is erased for good: name, email address, phone number, notes, metadata, and what belongs to them. In production, it is carried out ${ERASURE_DELAY_DAYS} days later, your contact and our staff are told by email, and our staff can cancel it until then. It waits until the email to your contact was sent. In the sandbox, it is carried out within a second. A repeat changes nothing, and returns the dates of the first request. Once it is carried out, no more webhooks are sent, and calls for the lead return 404, as for a lead that does not exist. list-events and get-deliveries keep its ids and milestones. With an \`Idempotency-Key\`, a repeat within 24 hours gets the same response even then.`,
  ...keyedOperation,
  body,
  bodyExamples: { lead: { lead_id: 1042, reason: 'borrower_request' } },
  response: z.object({
    success,
    data: z
      .object({
        lead_id: ofLead,
        requested_at: timestamp,
        due_at: timestamp.describe('When it is carried out; later if the email about it goes out late.'),
      })
      .meta({ id: 'Erasure' }),
  }),
  responseDescription: 'The erasure is requested.',
  responseExamples: {
    requested: {
      success: true,
      data: { lead_id: 1042, requested_at: '2026-03-09 10:30:00', due_at: '2026-03-16 10:30:00' },
    },
  },
  errors: [
    ...leadErrors,
    leadHeld({ reason: 'litigation', reference: '26-118' }),
    new ApiError('IDEMPOTENCY_CONFLICT'),
  ],
})

/** POST /erase-lead (extension): erases a borrower's personal data, in production after a week. */
export const eraseLead: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, environment, startErasure } = options
  app.post('/erase-lead', {
    schema,
    handler: async (request, reply) => {
      const { partnerId, keyId } = request
      const { lead_id: lead, reason = null } = request.body
      request.leadId = lead
      const asked = {
        partnerId,
        leadId: lead,
        reason,
        requestedBy: auditName(keyId),
        delayDays: environment === 'sandbox' ? 0 : ERASURE_DELAY_DAYS,
      }
      const { kind, answer } = await answerOnce<Answer>(
        sql,
        'erase-lead',
        [request, reply],
        async (its, keep) => {
          const requested = await requestErasure(its, asked, (dates) => keep(toWire(lead, dates)))
          if (requested.kind === 'unknown') throw unknownLead()
          if (requested.kind === 'held') throw leadHeld(requested.hold)
          return toWire(lead, requested)
        },
      )
      if (kind === 'made') startErasure(lead)
      return { success: true as const, data: answer }
    },
  })
}

type Answer = ReturnType<typeof toWire>

const toWire = (lead: number, { requestedAt, dueAt }: ErasureDates) => ({
  lead_id: lead,
  requested_at: formatTimestamp(requestedAt),
  due_at: formatTimestamp(dueAt),
})
