import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { MAX_METADATA_FIELDS, mergeMetadata } from '../db/lead-queries.ts'
import type { Sql } from '../db/orm.ts'
import { ApiError, unknownLead } from '../errors.ts'
import { isStorableId } from './lead-ids.ts'
import { messageAnswer, updatePartnerInfoBody } from './schemas.ts'

/** POST /update-partner-info: interface specification, section 4.4. Merges: a field not sent stays. */
export const updatePartnerInfo: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/update-partner-info', {
    schema: { body: updatePartnerInfoBody, response: { 200: messageAnswer } },
    handler: async ({ body, partnerId }) => {
      const { lead_id: leadId, ...fields } = body
      const sent = Object.entries(fields).filter(
        (field): field is [string, string | null] => field[1] !== undefined,
      )
      const outcome = isStorableId(leadId)
        ? await mergeMetadata(sql, partnerId, leadId, Object.fromEntries(sent))
        : 'unknown'
      if (outcome === 'unknown') throw unknownLead()
      if (outcome === 'too_many') {
        throw new ApiError(
          'INVALID_PAYLOAD',
          `A lead can have at most ${MAX_METADATA_FIELDS} metadata fields.`,
        )
      }
      return { success: true as const, message: 'Lead updated.' }
    },
  })
}
