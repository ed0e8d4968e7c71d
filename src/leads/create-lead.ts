import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import type { RouteDependencies } from '../http/dependencies.ts'
import { ApiError, invalidRequest } from '../http/errors.ts'
import { email, id, name, optionalRules, phone } from '../http/fields.ts'
import { findAnswer, idempotencyParameter, keyedRequest } from '../http/idempotency.ts'
import { operation } from '../http/operation.ts'
import { message, success } from '../http/schemas.ts'
import { ignoredIn, MOST_IGNORED } from '../http/failures.ts'
import { eachField, type OptionalField, optionalFields } from './lead-fields.ts'
import { insertLead, leadIds } from './new-lead.ts'
import { newReferralState, type ReferralState } from './referral-state.ts'

/** An optional field; stored as `null` when it is absent. */
function optional(field: OptionalField) {
  const { rule, meaning } = optionalRules[field]
  return rule
    .nullish()
    .transform((value) => value || null)
    .describe(`${meaning} \`null\`, the empty string and blanks count as absent.`)
}

const body = z.object(
  {
    first_name: name.describe('Borrower’s first name; trimmed.'),
    last_name: name.describe('Borrower’s last name; trimmed.'),
    email: email.describe('Borrower’s email address; trimmed.'),
    phone: phone.describe('Digits, hyphens, spaces and `+`, with at least one digit; trimmed.'),
    ...eachField(optionalFields, optional),
  },
  'must be a JSON object',
)

const fieldNames = Object.keys(body.shape)

const schema = operation({
  operationId: 'createLead',
  tags: ['Leads'],
  summary: 'Refer a borrower',
  description:
    'Creates a lead and starts the borrower’s journey. A `lead_received` webhook follows. Unknown fields are ignored, and `ignored_fields` names them. If you repeat a request with the same `Idempotency-Key` within 24 hours, you get the same response, with the header `Idempotent-Replayed`, and no second lead is created.',
  parameters: [idempotencyParameter('unique to each lead, remembered for 24 hours', 'LOAN-2026-118')],
  body,
  bodyExamples: {
    complete: {
      first_name: 'Ada',
      last_name: 'Miller',
      email: 'ada.miller@example.com',
      phone: '+1 555-010-0100',
      partner_lead_id: 'LOAN-2026-118',
      fico_range: '550-579',
      loan_officer_id: 'LO-7',
      notes: 'Declined: score below the program’s minimum.',
    },
  },
  response: z.object({
    success,
    message,
    lead_id: id.describe('The new lead: store it with your application.'),
    partner_lead_id: z.string().optional().describe('As you sent it; absent if you did not.'),
    ignored_fields: z
      .array(z.string())
      .max(MOST_IGNORED)
      .optional()
      .describe(
        `Names of fields in your request that create-lead does not know, at most ${MOST_IGNORED}: their values are not stored. Absent if there are none.`,
      ),
    duplicate_of: id
      .optional()
      .describe(
        'Your newest open lead with the same `partner_lead_id` or email address: you may have referred this borrower twice. The new lead was created nevertheless; to keep only one, close the other with close-lead. Absent if there is none, or if both requests were concurrent.',
      ),
  }),
  responseHeaders: ['Idempotent-Replayed'],
  responseDescription: 'The lead was created, by this request or by an earlier one with its Idempotency-Key.',
  responseExamples: {
    created: { success: true, message: 'Lead created.', lead_id: 1042, partner_lead_id: 'LOAN-2026-118' },
  },
  errors: [
    invalidRequest(
      { field: 'email', problem: 'must be a valid email address' },
      { field: 'phone', problem: 'is required' },
    ),
    keyTaken(1042),
  ],
})

/** Names the lead: a partner that repeats a key after changing its field mapping already has it. */
function keyTaken(leadId: number): ApiError {
  const said = `This Idempotency-Key was already used with a different request body, which created lead ${leadId}. To change that lead, use update-partner-info. For another borrower, use a new key.`
  return new ApiError('IDEMPOTENCY_CONFLICT', said, {}, { lead_id: leadId })
}

export interface CreateDependencies extends RouteDependencies {
  startReferral: (state: ReferralState) => void
}

/** POST /create-lead: interface specification, section 4.1. It succeeds even if Temporal is down. */
export const createLead: FastifyPluginAsyncZod<CreateDependencies> = async (app, options) => {
  const { sql, encryptionKeys, webhookBody, startReferral, environment } = options
  const isSandbox = environment === 'sandbox'
  const takeLeadId = leadIds(sql)
  app.decorateRequest('ignoredFields', undefined)
  app.post('/create-lead', {
    schema,
    preValidation: async (request) => {
      request.ignoredFields = ignoredIn(request.body, fieldNames)
    },
    handler: async (request, reply) => {
      const { body: lead, partnerId, id: requestId, ignoredFields } = request
      const keyed = keyedRequest(request, 'create-lead')
      const reserved = await takeLeadId()
      const { leadId } = reserved
      const answer = {
        success: true as const,
        message: 'Lead created.',
        lead_id: leadId,
        partner_lead_id: lead.partner_lead_id ?? undefined,
        ignored_fields: ignoredFields,
      }
      const kept = keyed && { ...keyed, response: JSON.stringify(answer) }
      const created = await insertLead(options, reserved, partnerId, lead, webhookBody, { kept, requestId })
      if (created !== undefined) {
        const { eventId, duplicateOf } = created
        request.leadId = leadId
        request.eventId = eventId
        const ids = { leadId, partnerId, requestId, firstEventId: eventId }
        startReferral(newReferralState({ ...ids, lastEventAt: Date.now(), isSandbox }))
        return { ...answer, duplicate_of: duplicateOf ?? undefined }
      }
      const earlier = keyed && (await findAnswer<typeof answer>(sql, keyed, encryptionKeys))
      if (!earlier?.leadId) throw new Error('the Idempotency-Key is taken, but its row is missing')
      request.leadId = earlier.leadId
      if (earlier.kind === 'conflict') throw keyTaken(earlier.leadId)
      reply.header('idempotent-replayed', 'true')
      return earlier.answer
    },
  })
}
