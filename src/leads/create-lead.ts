import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { ApiError, invalidRequest } from '../http/errors.ts'
import { email, id, name, optionalRules, phone } from '../http/fields.ts'
import {
  findAnswer as find,
  idempotencyParameter,
  keyedRequest,
  type KeyedRequest,
} from '../http/idempotency.ts'
import { operation } from '../http/operation.ts'
import { message, success } from '../http/schemas.ts'
import { ignoredIn, MOST_IGNORED } from '../http/failures.ts'
import { eachField, type OptionalField, optionalFieldNames } from './lead-fields.ts'
import {
  insertLead,
  type LeadExtras,
  leadIds,
  type NewLead,
  type ReservedLeadId,
  type WebhookBody,
} from './new-lead.ts'
import { newReferralState } from './referral-state.ts'

export interface LeadCreation {
  sql: Sql
  takeLeadId: () => Promise<ReservedLeadId>
  encryptionKeys: readonly Buffer[]
}

interface Made<Answer> {
  answer: Answer
  leadId: number
}

/** The key's lead was made from another body. */
interface Conflict {
  kind: 'conflict'
  leadId: number
}

export type Created<Answer> = Made<Answer> & ({ kind: 'created'; eventId: string } | { kind: 'replayed' })

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
  { keyed, ...extras }: LeadExtras & { keyed?: KeyedRequest | undefined } = {},
): Promise<Created<Answer> | Conflict> {
  if (keyed !== undefined) {
    const earlier = await findAnswer<Answer>(creation, keyed)
    if (earlier !== undefined) return earlier
  }
  const reserved = await creation.takeLeadId()
  const { leadId } = reserved
  const kept = keyed && { ...keyed, response: JSON.stringify(toAnswer(leadId)) }
  const inserted = await insertLead(creation, reserved, partnerId, lead, toBody, { kept, ...extras })
  if (inserted !== undefined) {
    const answer = toAnswer(leadId, inserted.duplicateOf ?? undefined)
    return { kind: 'created', answer, leadId, eventId: inserted.eventId }
  }
  const twin = keyed && (await findAnswer<Answer>(creation, keyed))
  if (twin === undefined) throw new Error('a key was taken and is not there')
  return twin
}

async function findAnswer<Answer>(
  { sql, encryptionKeys }: LeadCreation,
  keyed: KeyedRequest,
): Promise<Created<Answer> | Conflict | undefined> {
  const found = await find<Answer>(sql, keyed, encryptionKeys)
  if (found === undefined) return undefined
  const { leadId } = found
  if (leadId === null) throw new Error('a key of create-lead has no lead')
  return found.kind === 'conflict'
    ? { kind: 'conflict', leadId }
    : { kind: 'replayed', answer: found.answer, leadId }
}

type Options = Pick<
  RouteDependencies,
  'sql' | 'encryptionKeys' | 'webhookBody' | 'startReferral' | 'environment'
>

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
    ...eachField(optionalFieldNames, optional),
  },
  'must be a JSON object',
)

const fieldNames = Object.keys(body.shape)

const borrower = { first_name: 'Ada', last_name: 'Miller', email: 'ada.miller@example.com' }

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
      ...borrower,
      phone: '+1 555-010-0100',
      partner_lead_id: 'LOAN-2026-118',
      fico_range: '550-579',
      loan_officer_id: 'LO-7',
      notes: 'Declined: score below the program’s minimum.',
    },
    'required fields only': { ...borrower, phone: '555-010-0100' },
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
    'without partner_lead_id': { success: true, message: 'Lead created.', lead_id: 1043 },
    'a misspelt field': {
      success: true,
      message: 'Lead created.',
      lead_id: 1044,
      ignored_fields: ['partnerLeadId'],
    },
    'a second lead of a borrower': {
      success: true,
      message: 'Lead created.',
      lead_id: 1045,
      partner_lead_id: 'LOAN-2026-118',
      duplicate_of: 1042,
    },
  },
  errors: [
    invalidRequest(
      { field: 'email', problem: 'must be a valid email address' },
      { field: 'phone', problem: 'is required' },
    ),
    keyTaken(1042),
  ],
})

/** Who repeats a key after a change of mapping has that borrower's lead already. */
function keyTaken(leadId: number): ApiError {
  const said = `This Idempotency-Key was already used with a different request body, which created lead ${leadId}. To change that lead, use update-partner-info. For another borrower, use a new key.`
  return new ApiError('IDEMPOTENCY_CONFLICT', said, {}, { lead_id: leadId })
}

/** POST /create-lead: interface specification, section 4.1. It succeeds even if Temporal is down. */
export const createLead: FastifyPluginAsyncZod<Options> = async (
  app,
  { sql, encryptionKeys, webhookBody, startReferral, environment },
) => {
  const isSandbox = environment === 'sandbox'
  const takeLeadId = leadIds(sql)
  app.decorateRequest('ignoredFields', undefined)
  app.post('/create-lead', {
    schema,
    preValidation: async (request) => {
      request.ignoredFields = ignoredIn(request.body, fieldNames)
    },
    handler: async (request, reply) => {
      const { body: lead, partnerId: partner, ignoredFields } = request
      const keyed = keyedRequest(request, 'create-lead')
      const result = await insertOnce(
        { sql, takeLeadId, encryptionKeys },
        partner,
        lead,
        webhookBody,
        (leadId, duplicateOf) => ({
          success: true as const,
          message: 'Lead created.',
          lead_id: leadId,
          partner_lead_id: lead.partner_lead_id ?? undefined,
          ignored_fields: ignoredFields,
          duplicate_of: duplicateOf,
        }),
        { keyed, requestId: request.id },
      )
      request.leadId = result.leadId
      if (result.kind === 'conflict') throw keyTaken(result.leadId)
      if (result.kind === 'replayed') reply.header('idempotent-replayed', 'true')
      if (result.kind === 'created') {
        const { leadId, eventId } = result
        request.eventId = eventId
        const facts = { requestId: request.id, firstEventId: eventId, now: Date.now(), isSandbox }
        startReferral(newReferralState(leadId, partner, facts))
      }
      return result.answer
    },
  })
}
