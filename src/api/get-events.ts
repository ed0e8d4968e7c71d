import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { findEvents } from '../db/lead-queries.ts'
import type { Sql } from '../db/orm.ts'
import { formatTimestamp } from '../domain/timestamps.ts'
import { unknownLead } from '../errors.ts'
import { isStorableId } from './lead-ids.ts'
import { getEventsAnswer, leadBody } from './schemas.ts'

/** POST /get-events: interface specification, section 4.3. */
export const getEvents: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/get-events', {
    schema: { body: leadBody, response: { 200: getEventsAnswer } },
    handler: async ({ body, partnerId }) => {
      const events = isStorableId(body.lead_id) ? await findEvents(sql, partnerId, body.lead_id) : undefined
      if (events === undefined) throw unknownLead()
      const data = events.map(({ event_name, event_payload, created_at }) => ({
        event_name,
        event_payload: event_payload === null ? null : { ...event_payload },
        created_at: formatTimestamp(created_at),
      }))
      return { success: true as const, data }
    },
  })
}
