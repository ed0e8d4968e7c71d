import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import { noObject } from '../http/errors.ts'
import { timestamp } from '../http/fields.ts'
import { isTooDeep } from '../http/json-body.ts'
import { operation } from '../http/operation.ts'
import { strictBody, stringMap, success } from '../http/schemas.ts'
import { formatTimestamp } from '../values.ts'
import { MOST_KEPT, noSink, sinkPath, USUAL } from './sink.ts'

const webhook = z
  .object({
    webhook_id: z.string().describe('The header `webhook-id`: the event’s id.'),
    received_at: timestamp,
    verified: z.boolean().describe('Whether its signature is valid.'),
    problem: z.string().nullable().describe('Why it is not valid.'),
    status: z.int().describe('What the sink answered.'),
    headers: stringMap,
    body: z.string().describe('The bytes that were signed.'),
    event: z.unknown().describe('The body, parsed; `null` if its signature is not valid.'),
  })
  .meta({ id: 'SinkWebhook' })

const schema = operation({
  operationId: 'getSink',
  tags: ['Sandbox'],
  summary: 'Read the webhooks at the sink',
  description: 'Returns the last 100 webhooks that arrived at your sink, newest first, and how it answers.',
  body: strictBody({}).describe('Empty.'),
  bodyExamples: { nothing: {} },
  response: z.object({
    success,
    data: z
      .object({
        url: z.string().describe('Where your webhooks go, until you set an endpoint of your own.'),
        status: z.int().describe('The HTTP status that it answers with.'),
        times: z.int().nullable().describe('For how many more webhooks it answers `status`; `null` for all.'),
        delay_ms: z.int().describe('How long it waits before it answers.'),
        webhooks: z.array(webhook).describe('The last 100, newest first.'),
      })
      .meta({ id: 'Sink' }),
  }),
  responseDescription: 'The sink and its webhooks.',
  responseExamples: {
    one: {
      success: true,
      data: {
        url: 'https://sandbox.example.com/v1/sandbox/sinks/7d1f0e9c2b3a4d5e6f708192a3b4c5d6',
        status: 200,
        times: null,
        delay_ms: 0,
        webhooks: [
          {
            webhook_id: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
            received_at: '2026-03-02 15:04:05',
            verified: true,
            problem: null,
            status: 200,
            headers: { 'webhook-id': 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e' },
            body: '{"type":"lead_received"}',
            event: { type: 'lead_received' },
          },
        ],
      },
    },
  },
  errors: [noObject(), noSink()],
})

/** POST /sandbox/get-sink: what arrived at the sink. */
export const getSink: FastifyPluginAsyncZod<{ sql: Sql; sinkBase: () => string }> = async (
  app,
  { sql, sinkBase },
) => {
  app.post('/sandbox/get-sink', {
    schema,
    handler: async ({ partnerId }) => {
      const found = await sql
        .selectFrom('sinks')
        .select(['token', 'status', 'times_left as times', 'delay_ms'])
        .where('partner_id', '=', partnerId)
        .executeTakeFirst()
      if (found === undefined) throw noSink()
      const { token, ...told } = found
      const arrivals = await sql
        .selectFrom('sink_webhooks')
        .select(['received_at', 'webhook_id', 'headers', 'body', 'problem', 'status'])
        .where('partner_id', '=', partnerId)
        .orderBy('id', 'desc')
        .limit(MOST_KEPT)
        .execute()
      const data = {
        url: `${sinkBase()}${sinkPath(token)}`,
        ...(told.times === 0 ? { ...USUAL, times: null } : told),
        webhooks: arrivals.map((arrival) => ({
          ...arrival,
          received_at: formatTimestamp(arrival.received_at),
          verified: arrival.problem === null,
          event: arrival.problem === null ? parseSigned(arrival.body) : null,
        })),
      }
      return { success: true as const, data }
    },
  })
}

/** The partner may have signed it itself: `null` for what is no JSON, and what nobody should parse. */
function parseSigned(body: string): unknown {
  try {
    return isTooDeep(Buffer.from(body)) ? null : JSON.parse(body)
  } catch {
    return null
  }
}
