import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { EVENTS_AT_ONCE, findEvents } from './read-lead.ts'
import { pages, type Sql } from '../database/sql.ts'
import { jsonPieces, type Pages, streamed } from '../http/streamed.ts'
import { formatTimestamp } from '../values.ts'
import { unknownLead } from '../http/errors.ts'
import { event } from './event-schema.ts'
import { operation } from '../http/operation.ts'
import { leadBody, leadErrors, success } from '../http/schemas.ts'

const schema = operation({
  operationId: 'getEvents',
  tags: ['Leads'],
  summary: 'List a lead’s events',
  description:
    'Returns the complete history of one lead, oldest first, including events that are not sent as webhooks. list-events returns the events of all your leads, with the `event_id` by which a webhook and its deliveries are found.',
  body: leadBody,
  bodyExamples: { lead: { lead_id: 1042 } },
  response: z.object({
    success,
    data: z.array(event).describe('The complete history, oldest first.'),
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
    handler: async (request, reply) => {
      request.leadId = request.body.lead_id
      const { partnerId } = request
      const lead = request.body.lead_id
      const first = await findEvents(sql, partnerId, lead)
      if (first === undefined) throw unknownLead()
      if (first.length < EVENTS_AT_ONCE) return { success: true as const, data: first.map(toWire) }
      const read = async (after: number) =>
        after === 0 ? first : ((await findEvents(sql, partnerId, lead, after)) ?? [])
      const all = pages(EVENTS_AT_ONCE, 0, read, ({ position }) => position)
      return streamed(reply, jsonPieces({ success: true, data: mapped(all) }))
    },
  })
}

type Row = NonNullable<Awaited<ReturnType<typeof findEvents>>>[number]

const toWire = (row: Row) => ({
  event_name: row.event_name,
  event_payload: row.event_payload,
  created_at: formatTimestamp(row.created_at),
})

async function* mapped(rows: AsyncIterable<Row[]>): Pages {
  for await (const page of rows) yield page.map(toWire)
}
