import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { findEvents } from '../db/leads/queries.ts'
import type { Sql } from '../db/orm.ts'
import { formatTimestamp } from '../domain/timestamps.ts'
import { unknownLead } from '../errors.ts'
import { isStorableId } from './lead-ids.ts'
import { getEventsAnswer, leadBody } from './schemas.ts'

/** POST /get-events: interface specification, section 4.3. */
export const getEvents: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/get-events', {
    schema: { body: leadBody, response: { 200: getEventsAnswer } },
    handler: async (request) => {
      const { lead_id: leadId } = request.body
      request.leadId = leadId
      const events = isStorableId(leadId) ? await findEvents(sql, request.partnerId, leadId) : undefined
      if (events === undefined) throw unknownLead()
      const data = events.map(({ event_name, event_payload, created_at }) => ({
        event_name,
        event_payload,
        created_at: formatTimestamp(created_at),
      }))
      return { success: true as const, data }
    },
  })
}
