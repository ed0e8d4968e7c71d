import { createHash } from 'node:crypto'
import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { z } from 'zod'
import { createLead as insert, type Idempotency } from '../db/leads/create-lead.ts'
import { leadIds } from '../db/leads/ids.ts'
import type { NewLead, WebhookBody } from '../db/leads/new-lead.ts'
import type { Sql } from '../db/orm.ts'
import { newReferralState, type ReferralState } from '../domain/referral.ts'
import { ApiError } from '../errors.ts'
import { createLeadAnswer, createLeadBody, idempotencyKey } from './schemas.ts'

interface Options {
  sql: Sql
  webhookBody: WebhookBody
  startReferral: (state: ReferralState) => void
}

/** POST /create-lead: interface specification, section 4.1. Temporal's state makes no difference to the answer. */
export const createLead: FastifyPluginAsyncZod<Options> = async (
  app,
  { sql, webhookBody, startReferral },
) => {
  const takeLeadId = leadIds(sql)
  app.post('/create-lead', {
    schema: { body: createLeadBody, response: { 200: createLeadAnswer } },
    handler: async (request) => {
      const lead = toNewLead(request.body)
      const idempotency = readIdempotency(request.headers['idempotency-key'], lead)
      const result = await insert(
        { sql, takeLeadId },
        request.partnerId,
        lead,
        webhookBody,
        toAnswer(lead),
        idempotency,
      )
      if (result.kind === 'conflict') throw new ApiError('IDEMPOTENCY_CONFLICT')
      request.leadId = result.leadId
      if (result.kind === 'created') {
        startReferral(newReferralState(result.leadId, request.partnerId, Date.now()))
      }
      return result.answer
    },
  })
}

/** Unknown fields are left out; an optional field sent as `null` or `""` counts as absent. */
function toNewLead(body: z.output<typeof createLeadBody>): NewLead {
  const { first_name, last_name, email, phone } = body
  return {
    first_name,
    last_name,
    email,
    phone,
    partner_lead_id: body.partner_lead_id || null,
    fico_range: body.fico_range || null,
    loan_officer_id: body.loan_officer_id || null,
    notes: body.notes || null,
  }
}

const toAnswer =
  ({ partner_lead_id }: NewLead) =>
  (leadId: number) => ({
    success: true as const,
    message: 'Lead created.',
    lead_id: leadId,
    ...(partner_lead_id !== null && { partner_lead_id }),
  })

function readIdempotency(header: string | string[] | undefined, lead: NewLead): Idempotency | undefined {
  if (header === undefined) return undefined
  const { success, data: key } = idempotencyKey.safeParse(header)
  if (!success) {
    throw new ApiError(
      'INVALID_PAYLOAD',
      'The header Idempotency-Key must have 1 to 255 visible ASCII characters.',
    )
  }
  return { key, requestHash: createHash('sha256').update(JSON.stringify(lead)).digest('hex') }
}
