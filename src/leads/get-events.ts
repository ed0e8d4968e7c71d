import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { compiledOnce, type Sql } from '../database/sql.ts'
import { unknownLead } from '../http/errors.ts'
import { operation } from '../http/operation.ts'
import { leadBody, leadErrors, success } from '../http/schemas.ts'
import { formatTimestamp } from '../values.ts'
import type { InHistory } from './event-payloads.ts'
import { eventSchema, eventShape, historyKinds } from './event-schema.ts'

const schema = operation({
  operationId: 'getEvents',
  tags: ['Leads'],
  summary: 'List a lead’s events',
  description:
    'Returns the complete history of one lead, oldest first, including events that are not sent as webhooks. list-events returns the events of all your leads, each with the `event_id` of its webhook and delivery.',
  body: leadBody,
  bodyExamples: { lead: { lead_id: 1042 } },
  response: z.object({
    success,
    data: z
      .array(eventSchema('Event', eventShape, historyKinds))
      .describe('The complete history, oldest first.'),
  }),
  responseDescription: 'The history.',
  responseExamples: {
    history: {
      success: true,
      data: [
        {
          event_name: 'lead_received',
          event_payload: { partner_lead_id: 'LOAN-2026-118' },
          created_at: '2026-03-02 15:04:05',
        },
        { event_name: 'contract_signed', event_payload: null, created_at: '2026-03-09 10:30:00' },
      ],
    },
  },
  errors: leadErrors,
})

/** POST /get-events: interface specification, section 4.3. */
export const getEvents: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/get-events', {
    schema,
    handler: async (request) => {
      request.leadId = request.body.lead_id
      const events = await findEvents(sql, request.partnerId, request.leadId)
      if (events === undefined) throw unknownLead()
      const data = events.map((row) => ({
        event_name: row.event_name,
        event_payload: row.event_payload,
        created_at: formatTimestamp(row.created_at),
      }))
      return { success: true as const, data }
    },
  })
}

const selectEvents = compiledOnce<{ leadId: number; partnerId: number }>()((sql, value) =>
  sql
    .selectFrom('lead_events')
    .select(['event_name', 'event_payload', 'created_at'])
    .where('lead_id', '=', (eb) =>
      eb
        .selectFrom('leads')
        .select('leads.id')
        .where('leads.id', '=', value('leadId'))
        .where('leads.partner_id', '=', value('partnerId'))
        .where('leads.erased_at', 'is', null),
    )
    .where('position', '>', 0)
    .$narrowType<InHistory>()
    .orderBy('position'),
)

/**
 * A lead's history, oldest first; `undefined` if the partner has no such lead, or it is erased. No event of another
 * partner's lead is read, so that the response time reveals nothing about it.
 */
export async function findEvents(sql: Sql, partnerId: number, leadId: number) {
  const rows = await selectEvents(sql, { leadId, partnerId })
  // every lead has at least its lead_received
  return rows.length === 0 ? undefined : rows
}
