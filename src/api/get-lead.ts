import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { findLead, type LeadRow } from '../db/leads/queries.ts'
import type { Sql } from '../db/orm.ts'
import { formatTimestamp } from '../domain/timestamps.ts'
import { unknownLead } from '../errors.ts'
import { isStorableId } from './lead-ids.ts'
import { getLeadAnswer, leadBody } from './schemas.ts'

/** POST /get-lead: interface specification, section 4.2. */
export const getLead: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/get-lead', {
    schema: { body: leadBody, response: { 200: getLeadAnswer } },
    handler: async (request) => {
      const { lead_id: leadId } = request.body
      request.leadId = leadId
      const lead = isStorableId(leadId) ? await findLead(sql, request.partnerId, leadId) : undefined
      if (lead === undefined) throw unknownLead()
      return { success: true as const, data: toWire(lead) }
    },
  })
}

/** Absent optional fields are left out; metadata stands beside the lead's own fields, which it cannot shadow. */
function toWire(lead: LeadRow) {
  return {
    ...lead.metadata,
    id: lead.id,
    lead_id: lead.id,
    partner_id: lead.partner_id,
    ...(lead.partner_lead_id !== null && { partner_lead_id: lead.partner_lead_id }),
    first_name: lead.first_name,
    last_name: lead.last_name,
    email: lead.email,
    phone: lead.phone,
    status: lead.status,
    ...(lead.fico_range !== null && { fico_range: lead.fico_range }),
    ...(lead.loan_officer_id !== null && { loan_officer_id: lead.loan_officer_id }),
    created_at: formatTimestamp(lead.created_at),
    updated_at: formatTimestamp(lead.updated_at),
  }
}
