import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { eventCursor } from '../http/cursors.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { unknownLead } from '../http/errors.ts'
import { eventId, oneOf, ownLeadId, timestamp } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import {
  attemptNumber,
  errorCode,
  httpStatus,
  ofEvent,
  ofLead,
  pageLimit,
  strictBody,
  stringMap,
  success,
  webhookSequence,
  eventName,
} from '../http/schemas.ts'
import { requireOwnLead } from '../partners/own-lead.ts'
import { formatTimestamp } from '../values.ts'
import { diagnoseStatus } from '../webhooks/diagnosis.ts'
import { signatureHeaders } from '../webhooks/signature.ts'
import { latestAttempts } from './attempt.ts'
import { attemptTriggers, deliveryStatuses } from './delivery-states.ts'
import { AFTER_ALL, findDeliveries } from './list-deliveries.ts'
import { requireWebhook, unknownEvent, unsentEvent } from './resends.ts'

const deliveryState = z.enum(deliveryStatuses, { error: oneOf(deliveryStatuses) }).meta({
  id: 'DeliveryState',
  description:
    '`pending`: to be sent. `held`: pending, while your endpoint is paused. `delivered`: your endpoint accepted it. `given_up`: the retry schedule is used up while your endpoint accepted other webhooks; the lead’s next webhook is sent, and resend-webhook sends this one again. `canceled`: our staff canceled it, or the lead was erased.',
})

const body = strictBody({
  event_id: eventId.optional().describe('Only this webhook, with the bodies that your endpoint answered.'),
  lead_id: ownLeadId.optional().describe('Only this lead’s deliveries; by default those of all leads.'),
  states: z
    .array(deliveryState, 'must be a list')
    .min(1, 'must not be empty')
    .max(deliveryStatuses.length, `must have at most ${deliveryStatuses.length} states`)
    .optional()
    .describe('`pending` includes `held`: open deliveries to a paused endpoint.'),
  after: eventCursor
    .nullish()
    .describe('The `next` of the previous response: only older deliveries. `null` is the first page.'),
  limit: pageLimit,
}).describe('All fields are optional.')

const attempt = z
  .object({
    number: attemptNumber,
    trigger: z.enum(attemptTriggers).meta({
      id: 'AttemptTrigger',
      description:
        'Why it was made. `scheduled`: by the retry schedule. `resend`: you asked for it. `replay`: our staff did. `probe`: to test whether a paused endpoint works again.',
    }),
    url: z.string().describe('The URL that was called.'),
    started_at: timestamp,
    duration_ms: z.int().nullable().describe('`null` while the attempt is in progress.'),
    status: httpStatus,
    error_code: errorCode,
    hint: z.string().nullable().describe('How to fix the failure.'),
    request_headers: z
      .object({
        'webhook-id': ofEvent,
        'webhook-timestamp': z.string().describe('Seconds since 1970.'),
        'webhook-signature': z.string().describe('One `v1,…` for each secret that was live.'),
      })
      .meta({ id: 'SignatureHeaders' })
      .nullable()
      .describe(
        'The headers that were sent for your signature check; `null` while the attempt is in progress, and if we were interrupted.',
      ),
    response_headers: stringMap
      .nullable()
      .describe(
        'The headers of the response, up to 2 KB, without those that may hold credentials. `null` if it did not respond, and once it is deleted: after 30 days by default.',
      ),
    response_body: z
      .string()
      .nullable()
      .optional()
      .describe(
        'The first 4 KB of the response’s body, as text, if the request has `event_id`. A longer one ends with `… (cut)`.',
      ),
  })
  .meta({ id: 'Attempt', description: 'One HTTP request to your endpoint.' })

const delivery = z
  .object({
    event_id: ofEvent,
    event_name: eventName,
    lead_id: ofLead,
    lead_erased: z.boolean().describe('Whether the lead is erased: the webhook cannot be resent.'),
    sequence: webhookSequence,
    state: deliveryState,
    created_at: timestamp,
    next_attempt_at: timestamp
      .nullable()
      .describe('`null` if it is held, settled, being attempted now, or waits for another one.'),
    waits_for: z
      .object({ event_id: ofEvent, sequence: webhookSequence })
      .meta({ id: 'BlockingWebhook' })
      .nullable()
      .describe('The lead’s first open webhook, if this one is sent after it.'),
    settled_at: timestamp.nullable(),
    fault: z
      .string()
      .nullable()
      .describe(
        'Why it cannot be sent now, if the error is on our side: it is sent once we have fixed that.',
      ),
    body: z.string().describe('The body of the webhook: the bytes that every attempt signs and sends.'),
    attempts: z.array(attempt).describe('The latest 20, oldest first.'),
  })
  .meta({ id: 'Delivery', description: 'One event on its way to your endpoint.' })

const id = 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e'
const example = {
  event_id: id,
  event_name: 'contract_signed' as const,
  lead_id: 1042,
  lead_erased: false,
  sequence: 3,
  state: 'pending' as const,
  created_at: '2026-03-09 10:30:00',
  next_attempt_at: '2026-03-09 10:35:07',
  waits_for: null,
  settled_at: null,
  fault: null,
  body: '{"type":"contract_signed","timestamp":"2026-03-09T10:30:00Z","data":{…}}',
  attempts: [
    {
      number: 1,
      trigger: 'scheduled' as const,
      url: 'https://lender.example.com/webhooks',
      started_at: '2026-03-09 10:30:00',
      duration_ms: 41,
      status: 503,
      error_code: 'http_error',
      hint: diagnoseStatus(503).hint,
      request_headers: {
        'webhook-id': id,
        'webhook-timestamp': '1773052200',
        'webhook-signature': 'v1,…',
      },
      response_headers: { 'content-type': 'text/plain', 'retry-after': '300' },
    },
  ],
}

const schema = operation({
  operationId: 'getDeliveries',
  tags: ['Deliveries'],
  summary: 'List webhook deliveries',
  description:
    'Returns one delivery for each event that is sent to your endpoint, with its attempts and your endpoint’s responses; with `event_id`, also their bodies.',
  body,
  bodyExamples: {
    'all that wait': { states: ['pending'], limit: 20 },
    'one, with the answers of your endpoint': { event_id: id },
  },
  response: z.object({
    success,
    data: z.array(delivery).describe('Newest first.'),
    next: z.string().nullable().describe('The next page’s `after`; `null` on the last page.'),
  }),
  responseDescription: 'A page of deliveries.',
  responseExamples: { page: { success: true, data: [example], next: null } },
  errors: [unsentEvent(), unknownLead(), unknownEvent()],
})

type Options = Pick<RouteDependencies, 'sql'>

/** POST /get-deliveries (extension): a partner's webhooks with their attempts, newest first. */
export const getDeliveries: FastifyPluginAsyncZod<Options> = async (app, { sql }) => {
  app.post('/get-deliveries', {
    schema,
    handler: async (request) => {
      const { partnerId } = request
      const { event_id: asked, lead_id: leadId, states, after, limit } = request.body
      if (leadId !== undefined) await requireOwnLead(sql, request, leadId)
      const filter = { partnerId, eventId: asked, leadId, states, before: after ?? AFTER_ALL }
      const found = await findDeliveries(sql, { ...filter, limit: limit + 1 })
      if (asked !== undefined && found.length === 0) await requireWebhook(sql, partnerId, asked)
      const page = found.slice(0, limit)
      const ids = page.map((row) => row.event_id)
      // read a moment later, so an attempt that has just been made may be among them
      const attempts = await latestAttempts(sql, ids, asked !== undefined)
      if (asked !== undefined) request.leadId = page[0]?.lead_id
      const data = page.map((row) => toWire(row, attempts.get(row.event_id) ?? []))
      const last = found.length > limit ? page.at(-1) : undefined
      return { success: true as const, data, next: last?.event_id ?? null }
    },
  })
}

type Row = Awaited<ReturnType<typeof findDeliveries>>[number]
type Attempts = NonNullable<ReturnType<Awaited<ReturnType<typeof latestAttempts>>['get']>>

function toWire(row: Row, attempts: Attempts): z.output<typeof delivery> {
  return {
    ...row,
    created_at: formatTimestamp(row.created_at),
    next_attempt_at: row.next_attempt_at && formatTimestamp(row.next_attempt_at),
    settled_at: row.settled_at && formatTimestamp(row.settled_at),
    fault: row.fault && 'we cannot read your signing secret',
    attempts: attempts.map(({ event_id: of, signed_at, signature, started_at, ...made }) => ({
      ...made,
      started_at: formatTimestamp(started_at),
      request_headers: signed_at && signature ? signatureHeaders({ id: of, at: signed_at, signature }) : null,
    })),
  }
}
