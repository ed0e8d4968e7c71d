import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { changeableFields, type LeadChanges, MAX_CUSTOM_FIELDS, updateLead } from '../db/leads/queries.ts'
import type { Sql } from '../db/orm.ts'
import { ApiError, unknownLead } from '../errors.ts'
import { isStorableId } from './lead-ids.ts'
import { faultOf, updatePartnerInfoBody } from './metadata.ts'
import { messageAnswer } from './schemas.ts'

/** POST /update-partner-info: interface specification, section 4.4. Merges: a field not sent stays. */
export const updatePartnerInfo: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/update-partner-info', {
    schema: { body: updatePartnerInfoBody, response: { 200: messageAnswer } },
    preValidation: async ({ body }) => refusePrototype(body),
    handler: async (request) => {
      const { lead_id: leadId, ...sent } = request.body
      request.leadId = leadId
      const outcome = isStorableId(leadId)
        ? await updateLead(sql, request.partnerId, leadId, toChanges(sent))
        : 'unknown'
      if (outcome === 'unknown') throw unknownLead()
      if (outcome === 'too_many') {
        throw new ApiError('INVALID_PAYLOAD', `A lead can have at most ${MAX_CUSTOM_FIELDS} custom fields.`)
      }
      return { success: true as const, message: 'Lead updated.' }
    },
  })
}

/** Fields of the lead are its columns, where the empty string counts as absent; all others are metadata. */
function toChanges(sent: Record<string, string | null | undefined>): LeadChanges {
  const given = Object.entries(sent).filter(
    (field): field is [string, string | null] => field[1] !== undefined,
  )
  const fields = changeableFields.flatMap((name) =>
    sent[name] === undefined ? [] : [[name, sent[name] || null] as const],
  )
  const metadata = given.filter(([name]) => !changeableFields.some((field) => field === name))
  return { fields: Object.fromEntries(fields), metadata: Object.fromEntries(metadata) }
}

/** The schema never sees a field of this name: it would be dropped where every other bad name is refused. */
function refusePrototype(body: unknown): void {
  const field = '__proto__'
  if (typeof body === 'object' && body !== null && Object.hasOwn(body, field)) {
    throw new ApiError('INVALID_PAYLOAD', `Invalid request: ${field} ${faultOf(field)}.`)
  }
}
