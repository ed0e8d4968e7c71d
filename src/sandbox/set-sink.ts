import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { Sql } from '../database/sql.ts'
import { invalidRequest } from '../http/errors.ts'
import { integer } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { messageResponse, strictBody } from '../http/schemas.ts'
import { noSink } from './sink.ts'

const schema = operation({
  operationId: 'setSink',
  tags: ['Sandbox'],
  summary: 'Decide how the sink answers',
  description:
    'Decides how the sink answers the next webhooks, to watch retries, order and recovery. A webhook whose signature is not valid always gets 400. With an empty body, `{}`, it answers 200 again.',
  body: strictBody({
    status: integer(200, 599).default(200).describe('The HTTP status that it answers with; 200 by default.'),
    times: integer(1, 1000)
      .nullable()
      .default(null)
      .describe('How many webhooks get this answer before it is 200 again. `null`, the default: all.'),
    delay_ms: integer(0, 20_000)
      .default(0)
      .describe(
        'How long it waits before it answers; 0 by default. Our time limit for an attempt is 15 seconds.',
      ),
  }),
  bodyExamples: { fails_twice: { status: 503, times: 2 }, hangs: { delay_ms: 20_000 }, works: {} },
  response: messageResponse,
  responseDescription: 'The sink answers like that from now on.',
  responseExamples: {
    set: { success: true, message: 'The sink answers 503 to the next 2 webhooks, then 200.' },
  },
  errors: [invalidRequest({ field: 'status', problem: 'must be at least 200' }), noSink()],
})

/** POST /sandbox/set-sink: how the sink answers. */
export const setSink: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/sandbox/set-sink', {
    schema,
    handler: async ({ partnerId, body }) => {
      const { status, times, delay_ms } = body
      const { numUpdatedRows } = await sql
        .updateTable('sinks')
        .set({ status, times_left: times, delay_ms })
        .where('partner_id', '=', partnerId)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw noSink()
      const next = times === 1 ? 'the next webhook' : `the next ${times} webhooks`
      const which = times === null ? 'all webhooks' : `${next}, then 200`
      return { success: true as const, message: `The sink answers ${status} to ${which}.` }
    },
  })
}
