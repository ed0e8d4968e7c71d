import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { setSink as change, type SinkFault, sinkFaultNames, sinkFaults } from './sink.ts'
import type { Sql } from '../database/sql.ts'
import { ApiError, invalidRequest } from '../http/errors.ts'
import { integer, oneOf } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { messageResponse, strictBody } from '../http/schemas.ts'

export const noSink = () =>
  new ApiError('NO_ENDPOINT', 'You have no sink yet. Make one with POST /v1/sandbox/use-sink.')

/** What the sink does, in its message. */
const sayings: Record<SinkFault, string> = {
  resets: 'resets the connection',
  answers_half: 'ends the connection after half of its answer',
  answers_slowly: 'answers a byte a second',
}

function describeFaults(): string {
  return sinkFaultNames.map((name) => `\`${name}\`: it ${sinkFaults[name]}.`).join(' ')
}

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
        `What it does instead of answering at once and as a whole. ${describeFaults()} \`null\` by default.`,
      ),
    retry_after: integer(0, 86_400)
      .nullable()
      .default(null)
      .describe(
        'The seconds in the `Retry-After` of its answers, such as 429 or 503; `null`, the default, for none.',
      ),
  }).superRefine(({ fault, retry_after: retryAfter }, context) => {
    if (fault !== null && retryAfter !== null)
      context.addIssue({
        code: 'custom',
        path: ['retry_after'],
        message: `must be absent: a sink that ${sinkFaults[fault].split(',')[0]} sends none`,
      })
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

/** POST /sandbox/set-sink: how the sink answers. */
export const setSink: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/sandbox/set-sink', {
    schema,
    handler: async (request) => {
      const { status, times, delay_ms: delayMs, fault, retry_after: retryAfter } = request.body
      if (!(await change(sql, request.partnerId, { status, times, delayMs, fault, retryAfter })))
        throw noSink()
      const after = delayMs === 0 ? '' : ` after ${delayMs} ms`
      const what =
        { null: 'all webhooks', 1: 'the next webhook' }[String(times)] ?? `the next ${times} webhooks`
      const then = times === null ? '' : ', then 200'
      const asking = retryAfter === null ? '' : ` with Retry-After: ${retryAfter}`
      const how = fault === null ? `answers ${status}${asking}${after} to` : `${sayings[fault]}${after} for`
      const ends =
        fault === null && retryAfter === null ? '' : ' After an hour at most, it answers 200 again.'
      return { success: true as const, message: `The sink ${how} ${what}${then}.${ends}` }
    },
  })
}
