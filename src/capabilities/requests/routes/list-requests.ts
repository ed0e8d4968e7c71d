import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { listRequests as find } from '../statements/request-list.ts'
import { cameAt, KEPT_DAYS, MOST_KEPT } from '../decisions/request-age.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { REQUEST_ID } from '../../../core/values/request-ids.ts'
import { formatTimestamp } from '../../../core/values/timestamps.ts'
import { invalidPayload } from '../../../core/http/errors.ts'
import { id, leadId, timestamp } from '../../../core/http/fields.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { pageLimit, strictBody } from '../../../core/http/schemas.ts'
import { success } from '../../../core/http/response-fields.ts'

/** No request has it. */
const NO_ID = '00000000-0000-0000-0000-000000000000'
const STATUS = /^[1-5](?:\d\d|xx)$/

const madeRequest = z
  .object({
    request_id: z.string().describe('Its `X-Request-Id`.'),
    key_id: id.describe('The key that it was sent with: its id, as our staff know it.'),
    key_last4: z.string().nullable().describe('The last four characters of that key.'),
    call: z.string().describe('The path below `/v1/`.'),
    status: z.int().describe('The HTTP status of the response.'),
    error_code: z.string().nullable().describe('The `code` of the error; `null` if there was none.'),
    fields: z
      .array(z.string())
      .describe(
        'The fields that were wrong, for an `INVALID_PAYLOAD`. Fields that the call does not know are left out.',
      ),
    lead_id: id.nullable().describe('The lead that it created or named; `null` if there is none.'),
    duration_ms: z.int().describe('How long the response took, in milliseconds.'),
    created_at: timestamp.describe('When the request came.'),
  })
  .meta({ id: 'MadeRequest', description: 'A request of yours, without what it held.' })

const body = strictBody({
  limit: pageLimit,
  after: z
    .string('must be a string')
    .regex(REQUEST_ID, 'must be the next of an earlier response')
    .nullish()
    .describe('The `next` of the previous response: only older requests. `null` is the first page.'),
  request_id: z
    .string('must be a string')
    .overwrite((value) => (REQUEST_ID.test(value) ? value : NO_ID))
    .optional()
    .describe('Only the request with this `X-Request-Id`.'),
  lead_id: leadId.optional().describe('Only requests about this lead.'),
  status: z
    .string('must be a string such as "404" or "4xx"')
    .regex(STATUS, 'must be a status such as 404, or a class such as 4xx')
    .optional()
    .describe('Only requests with this HTTP status, such as `404`, or with one of a class, such as `4xx`.'),
}).describe('All fields are optional.')

const example = {
  request_id: '0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
  key_id: 12,
  key_last4: '9f3c',
  call: 'create-lead',
  status: 400,
  error_code: 'INVALID_PAYLOAD',
  fields: ['email', 'phone'],
  lead_id: null,
  duration_ms: 2,
  created_at: '2026-03-02 15:04:05',
}

const schema = operation({
  operationId: 'listRequests',
  client: { call: 'requests.list', result: 'request', prints: ['call', 'status'], items: 'in pages' },
  tags: ['Service'],
  summary: 'List your requests',
  description: `Returns the requests that you made in the last ${KEPT_DAYS} days, newest first, at most the latest ${MOST_KEPT.toLocaleString('en')}: which call, when, with which key, and how it was answered. Nothing that a request held is kept, and names of unknown fields are not either. A request is listed about a second after its response. Requests with a key of yours that has expired or was revoked are listed too; those with another key, or none, or to an unknown path are not. Neither are those of the console, and waits of list-events that ended without events.`,
  body,
  bodyExamples: {
    newest: {},
    'what went wrong': { status: '4xx' },
    'one request': { request_id: example.request_id },
    'about a lead': { lead_id: 1042, limit: 20 },
  },
  response: z.object({
    success,
    data: z.array(madeRequest).describe('Newest first.'),
    next: z.string().nullable().describe('The next page’s `after`; `null` on the last page.'),
  }),
  responseDescription: 'A page of requests.',
  responseExamples: { page: { success: true, data: [example], next: null } },
  links: { lead_id: '/data/0/lead_id', after: '/next' },
  errors: [invalidPayload('Invalid request: status must be a status such as 404, or a class such as 4xx.')],
})

/** POST /list-requests (extension): what a partner sent, and how it was answered. */
export const listRequests: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/list-requests', {
    schema,
    handler: async (request) => {
      const { limit, after, request_id: requestId, lead_id: lead, status } = request.body
      const found = await find(sql, request.partnerId, {
        limit: limit + 1,
        ...(typeof after === 'string' && { before: after }),
        ...(requestId !== undefined && { id: requestId }),
        ...(lead !== undefined && { leadId: lead }),
        ...(status !== undefined && { status: rangeOf(status) }),
      })
      const page = found.slice(0, limit)
      return {
        success: true as const,
        data: page.map(toWire),
        next: found.length > limit ? (page.at(-1)?.id ?? null) : null,
      }
    },
  })
}

/** `404` is a range of one, `4xx` of a hundred. */
const rangeOf = (status: string) =>
  [Number(status.replace('xx', '00')), Number(status.replace('xx', '99'))] as const

type Row = Awaited<ReturnType<typeof find>>[number]

const toWire = (row: Row) => ({
  request_id: row.id,
  key_id: row.key_id,
  key_last4: row.key_last4,
  call: row.call,
  status: row.status,
  error_code: row.error_code,
  fields: row.fields,
  lead_id: row.lead_id,
  duration_ms: row.duration_ms,
  created_at: formatTimestamp(cameAt(row.id)),
})
