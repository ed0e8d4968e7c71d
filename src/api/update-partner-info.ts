import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { MAX_CUSTOM_FIELDS, mergeMetadata } from '../db/lead-queries.ts'
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
      const { lead_id: leadId, ...fields } = request.body
      request.leadId = leadId
      const sent = Object.entries(fields).filter(
        (field): field is [string, string | null] => field[1] !== undefined,
      )
      const outcome = isStorableId(leadId)
        ? await mergeMetadata(sql, request.partnerId, leadId, Object.fromEntries(sent))
        : 'unknown'
      if (outcome === 'unknown') throw unknownLead()
      if (outcome === 'too_many') {
        throw new ApiError('INVALID_PAYLOAD', `A lead can have at most ${MAX_CUSTOM_FIELDS} custom fields.`)
      }
      return { success: true as const, message: 'Lead updated.' }
    },
  })
}

/** The schema never sees a field of this name: it would be dropped where every other bad name is refused. */
function refusePrototype(body: unknown): void {
  const field = '__proto__'
  if (typeof body === 'object' && body !== null && Object.hasOwn(body, field)) {
    throw new ApiError('INVALID_PAYLOAD', `Invalid request: ${field} ${faultOf(field)}.`)
  }
}
