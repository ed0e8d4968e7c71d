import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { ApiError, invalidRequest } from '../http/errors.ts'
import { email, id, name, optionalRules, phone } from '../http/fields.ts'
import { findAnswer, idempotencyParameter, keyedRequest, type KeyedRequest } from '../http/idempotency.ts'
import { operation } from '../http/operation.ts'
import { message, success } from '../http/schemas.ts'
import { ignoredIn, MOST_IGNORED } from '../http/failures.ts'
import { eachField, type OptionalField, optionalFields } from './lead-fields.ts'
import { insertLead, leadIds, type NewLead, type ReservedLeadId, type WebhookBody } from './new-lead.ts'
import { newReferralState } from './referral-state.ts'

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
        `Names of fields in your request that create-lead does not know, at most ${MOST_IGNORED}: what they hold is not stored. Absent if there are none.`,
      ),
    duplicate_of: id
      .optional()
      .describe(
        'An open lead of yours that has the same `partner_lead_id` or the same email address, the newest: you may have referred this borrower twice. The lead was created all the same; to keep one, close the other with close-lead. Absent if there is none, and of two requests at the same moment.',
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

/** Whoever repeats a key after a change of mapping has that borrower's lead already. */
function keyTaken(leadId: number): ApiError {
  const said = `This Idempotency-Key was already used with a different request body, which created lead ${leadId}. To change that lead, use update-partner-info. For another borrower, use a new key.`
  return new ApiError('IDEMPOTENCY_CONFLICT', said, {}, { lead_id: leadId })
}

type Options = Pick<
  RouteDependencies,
  'sql' | 'encryptionKeys' | 'webhookBody' | 'startReferral' | 'environment'
>

/** POST /create-lead: interface specification, section 4.1. It succeeds even if Temporal is down. */
export const createLead: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, encryptionKeys, webhookBody, startReferral, environment } = options
  const creation = { sql, encryptionKeys, takeLeadId: leadIds(sql) }
  app.decorateRequest('ignoredFields', undefined)
  app.post('/create-lead', {
    schema,
    preValidation: async (request) => {
      request.ignoredFields = ignoredIn(request.body, fieldNames)
    },
    handler: async (request, reply) => {
      const { body: lead, partnerId, id: requestId, ignoredFields } = request
      const toAnswer = (leadId: number, duplicateOf?: number) => ({
        success: true as const,
        message: 'Lead created.',
        lead_id: leadId,
        partner_lead_id: lead.partner_lead_id ?? undefined,
        ignored_fields: ignoredFields,
        duplicate_of: duplicateOf,
      })
      const keyed = keyedRequest(request, 'create-lead')
      const result = await insertOnce(creation, partnerId, lead, webhookBody, toAnswer, { keyed, requestId })
      const { leadId } = result
      request.leadId = leadId
      if (result.kind === 'conflict') throw keyTaken(leadId)
      if (result.kind === 'replayed') reply.header('idempotent-replayed', 'true')
      else {
        const { eventId } = result
        request.eventId = eventId
        const isSandbox = environment === 'sandbox'
        const facts = { requestId, firstEventId: eventId, now: Date.now(), isSandbox }
        startReferral(newReferralState(leadId, partnerId, facts))
      }
      return result.answer
    },
  })
}

interface LeadCreation {
  sql: Sql
  takeLeadId: () => Promise<ReservedLeadId>
  encryptionKeys: readonly Buffer[]
}

/**
 * Creates a lead in one statement, which also inserts the `Idempotency-Key`, if there is one: a concurrent repeat waits
 * for the commit and gets the same answer.
 */
export async function insertOnce<Answer>(
  creation: LeadCreation,
  partnerId: number,
  lead: NewLead,
  toBody: WebhookBody,
  toAnswer: (leadId: number, duplicateOf?: number) => Answer,
  { keyed, requestId }: { keyed?: KeyedRequest | undefined; requestId?: string } = {},
) {
  const remembered = async () => {
    const found = keyed && (await findAnswer<Answer>(creation.sql, keyed, creation.encryptionKeys))
    // each key of create-lead has a lead
    return found && { ...found, leadId: found.leadId ?? 0 }
  }
  const earlier = await remembered()
  if (earlier !== undefined) return earlier
  const reserved = await creation.takeLeadId()
  const { leadId } = reserved
  const kept = keyed && { ...keyed, response: JSON.stringify(toAnswer(leadId)) }
  const inserted = await insertLead(creation, reserved, partnerId, lead, toBody, { kept, requestId })
  if (inserted !== undefined) {
    const { eventId, duplicateOf } = inserted
    return { kind: 'created' as const, leadId, eventId, answer: toAnswer(leadId, duplicateOf ?? undefined) }
  }
  const twin = await remembered()
  if (twin === undefined) throw new Error('a key was taken and is not there')
  return twin
}
