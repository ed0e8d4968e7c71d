import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { eventsAfter, type FeedPosition } from '../db/leads/event-feed.ts'
import type { Sql } from '../db/orm.ts'
import { formatTimestamp } from '../domain/timestamps.ts'
import { invalidPayload } from './errors.ts'
import { operation } from './openapi/operation.ts'
import { event, pageLimit, success } from './schemas.ts'

const CURSOR = /^\d{1,19}-\d{1,10}-\d{1,10}$/
const BEGINNING = '0-0-0'

const body = z
  .object(
    {
      after: z
        .string('must be a string')
        .regex(CURSOR, 'must be the next of an earlier response')
        .optional()
        .describe('The `next` of the previous response; the first event by default.'),
      limit: pageLimit,
    },
    'must be a JSON object',
  )
  .describe('All fields are optional.')

const schema = operation({
  operationId: 'listEvents',
  tags: ['Extensions'],
  summary: 'Poll for events of all leads',
  description:
    'Returns the events of all your leads in the order in which they were committed. Send `next` as `after` in the following request: no event is left out or repeated. Store `next` only after you have processed the page.',
  body,
  bodyExamples: { 'from the beginning': {}, 'next page': { after: '81274-1042-3', limit: 100 } },
  response: z.object({
    success,
    data: z
      .array(
        z.object({
          event_id: z.string(),
          ...event.shape,
          lead_id: z.int(),
          partner_lead_id: z.string().nullable(),
          position: z.int().describe('Counts the lead’s events from 1, without gaps.'),
        }),
      )
      .describe('In commit order; the events of one lead in theirs.'),
    next: z.string().describe('Send it as `after` in the next request.'),
    has_more: z.boolean(),
  }),
  responseDescription: 'A page of events.',
  responseExamples: {
    page: {
      success: true,
      data: [
        {
          event_id: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
          event_name: 'contract_signed',
          event_payload: null,
          created_at: '2026-03-09 10:30:00',
          lead_id: 1042,
          partner_lead_id: 'LOAN-2026-118',
          position: 4,
        },
      ],
      next: '81290-1042-4',
      has_more: false,
    },
  },
  errors: [invalidPayload('Invalid request: after must be the next of an earlier response.')],
})

/** POST /list-events (extension): events of all leads in commit order, for partners without a public address. */
export const listEvents: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/list-events', {
    schema,
    handler: async (request) => {
      const { after = BEGINNING, limit } = request.body
      const found = await eventsAfter(sql, request.partnerId, parse(after), limit + 1)
      const page = found.slice(0, limit)
      const last = page.at(-1)
      return {
        success: true as const,
        data: page.map(({ txid: _, created_at, ...row }) => ({
          ...row,
          created_at: formatTimestamp(created_at),
        })),
        next: last === undefined ? after : `${last.txid}-${last.lead_id}-${last.position}`,
        has_more: found.length > limit,
      }
    },
  })
}

function parse(cursor: string): FeedPosition {
  const [txid = '0', leadId, position] = cursor.split('-')
  return { txid, leadId: Number(leadId), position: Number(position) }
}
