import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { sql as raw } from 'kysely'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import { invalidRequest } from '../http/errors.ts'
import { integer, oneOf } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { messageResponse, strictBody } from '../http/schemas.ts'
import { noSink, sinkFaultNames, sinkFaults } from './sink.ts'

const schema = operation({
  operationId: 'setSink',
  tags: ['Sandbox'],
  summary: 'Decide how the sink answers',
  description:
    'Decides how the sink answers the next webhooks, to watch retries, order and recovery. A webhook whose signature is not valid always gets 400. With `fault` or `retry_after`, the sink answers 200 again after an hour. To end it at once, send an empty body: `{}`.',
  body: strictBody({
    status: integer(200, 599).default(200).describe('The HTTP status that it answers with; 200 by default.'),
    times: integer(1, 1000)
      .nullable()
      .default(null)
      .describe('For how many webhooks, after which it answers 200 at once. `null`, the default: for all.'),
    delay_ms: integer(0, 20_000)
      .default(0)
      .describe(
        'How long it waits before it answers; 0 by default. Our time limit for an attempt is 15 seconds.',
      ),
    fault: z
      .enum(sinkFaultNames, { error: oneOf(sinkFaultNames) })
      .nullable()
      .default(null)
      .describe(
        `What it does instead of answering at once and as a whole. ${Object.entries(sinkFaults)
          .map(([name, does]) => `\`${name}\`: it ${does}.`)
          .join(' ')} \`null\` by default.`,
      ),
    retry_after: integer(0, 86_400)
      .nullable()
      .default(null)
      .describe(
        'The seconds in the `Retry-After` of its answers, such as 429 or 503; `null`, the default, for none.',
      ),
  }).refine(({ fault, retry_after: after }) => fault === null || after === null, {
    path: ['retry_after'],
    message: 'must be absent with a fault',
  }),
  bodyExamples: {
    fails_twice: { status: 503, times: 2 },
    hangs: { delay_ms: 20_000 },
    asks_to_wait: { status: 429, retry_after: 120, times: 1 },
    resets: { fault: 'resets', times: 1 },
    works: {},
  },
  response: messageResponse,
  responseDescription: 'The sink answers like that from now on.',
  responseExamples: {
    set: { success: true, message: 'The sink answers 503 to the next 2 webhooks, then 200.' },
  },
  errors: [invalidRequest({ field: 'status', problem: 'must be at least 200' }), noSink()],
})

/** Whoever forgets what a sink was told finds it was. */
const IN_AN_HOUR = raw<Date>`clock_timestamp() + interval '1 hour'`

/** POST /sandbox/set-sink: how the sink answers. */
export const setSink: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/sandbox/set-sink', {
    schema,
    handler: async ({ partnerId, body }) => {
      const { status, times, delay_ms, fault, retry_after } = body
      const ends = fault !== null || retry_after !== null
      const { numUpdatedRows } = await sql
        .updateTable('sinks')
        .set({ status, times_left: times, delay_ms, fault, retry_after, ends_at: ends ? IN_AN_HOUR : null })
        .where('partner_id', '=', partnerId)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw noSink()
      const what = fault === null ? `answers ${status} to` : `${sinkFaults[fault].split(',')[0]} for`
      const which =
        times === null ? 'all webhooks' : times === 1 ? 'the next webhook' : `the next ${times} webhooks`
      const then = `${times === null ? '' : ', then 200'}.${ends ? ' After an hour at most, it answers 200 again.' : ''}`
      return { success: true as const, message: `The sink ${what} ${which}${then}` }
    },
  })
}
