import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { eventsAfter, type FeedPosition } from '../db/leads/event-feed.ts'
import type { Sql } from '../db/orm.ts'
import { formatTimestamp } from '../domain/timestamps.ts'
import { listEventsAnswer, listEventsBody } from './extension-schemas.ts'

const PAGE = 50
const BEGINNING = '0-0-0'

/** POST /list-events (extension): events of all leads in commit order, for partners without a public address. */
export const listEvents: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/list-events', {
    schema: { body: listEventsBody, response: { 200: listEventsAnswer } },
    handler: async (request) => {
      const { after = BEGINNING, limit = PAGE } = request.body
      const found = await eventsAfter(sql, request.partnerId, parse(after), limit + 1)
      const page = found.slice(0, limit)
      const last = page.at(-1)
      return {
        success: true as const,
        data: page.map(({ txid: _, created_at, ...event }) => ({
          ...event,
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
