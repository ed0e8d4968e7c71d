import { z } from 'zod'
import { REQUEST_LIMIT_MS } from '../deliveries/delivery-states.ts'
import { environment, EXAMPLE_SECRET, ofLead, ofPartner, refTo, webhookSequence } from '../http/schemas.ts'
import { CERTIFICATION_TYPE, PING_TYPE, serviceCallBody, webhookBody } from '../webhooks/body.ts'
import { signedHeaders } from '../webhooks/signature.ts'
import { eventShape, kindsOf, unionOf } from './event-schema.ts'
import { milestoneNames, milestones } from './milestones.ts'

/** The OpenAPI description of requests to a partner's endpoint: webhooks, test requests and certification requests. */

const EVENT_ID = 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e'
const EXAMPLE_DATE = new Date('2026-03-02T15:04:05Z')
/** When the attempt was sent. */
const SENT_AT = new Date('2026-03-02T15:04:06Z')

const exampleFacts = {
  eventId: EVENT_ID,
  createdAt: EXAMPLE_DATE,
  leadId: 1042,
  partnerLeadId: 'LOAN-2026-118',
}
/** By the milestone table's kinds of payload. */
const examplePayloads = {
  lead_received: { partner_lead_id: 'LOAN-2026-118' },
  score_update: {
    experian_gain: 12,
    equifax_gain: 9,
    transunion_gain: 15,
    estimated_time_remaining: '90-120 days',
  },
}

const timestamp = z.string().meta({ format: 'date-time', description: 'ISO 8601.' })

const requestSchema = (id: string, type: z.ZodType, data: z.ZodRawShape) =>
  z.object({ type, timestamp, data: z.object(data).meta({ id: `${id}Data` }) }).meta({ id })

const sent = milestoneNames.filter((name) => milestones[name].webhook)

const ofEvents = kindsOf(sent, 'MilestoneWebhookType').map(({ prefix, names, fields }) => ({
  names,
  schema: requestSchema(`${prefix}Webhook`, fields.event_name, {
    event_id: z.string().describe('The same as the header `webhook-id`.'),
    ...eventShape,
    ...fields,
    lead_id: ofLead,
    partner_lead_id: z.string().nullable().describe('As it was when the event was recorded.'),
    sequence: webhookSequence,
    environment,
  }),
}))

/** The requests that are no events. */
const calls = [
  {
    type: PING_TYPE,
    id: 'EndpointPing',
    description: 'A test request, which test-endpoint or our staff asked for. It is not an event.',
  },
  {
    type: CERTIFICATION_TYPE,
    id: 'EndpointCertification',
    description: 'A request of a certification. It is not an event. Your endpoint must refuse three of them.',
  },
]
const ofCalls = calls.map(({ type, id }) => ({
  names: [type],
  schema: requestSchema(id, z.literal(type), { partner_id: ofPartner, environment }),
}))

const known = [...ofEvents, ...ofCalls]
unionOf(
  {
    id: 'WebhookEvent',
    description:
      'Any request to your endpoint. Accept and ignore a `type` that you do not know: new ones may be added.',
  },
  'type',
  known,
  { id: 'OtherWebhook', shape: { type: z.string(), timestamp, data: z.record(z.string(), z.unknown()) } },
)

/** The headers of Standard Webhooks. */
const signing = {
  'webhook-id':
    'The event’s id, the same on every attempt. Use it to ignore webhooks that you have already processed.',
  'webhook-timestamp':
    'When this attempt was sent, in seconds since 1970. Reject timestamps older than 5 minutes.',
  'webhook-signature': `One \`v1,<base64>\` for each active secret, separated by spaces: HMAC-SHA256 of \`<webhook-id>.<webhook-timestamp>.<body>\`, keyed with the secret (base64 after \`whsec_\`). Compute it over the raw body, and accept the webhook if one signature matches. The example signs the example body without white space between its tokens, with the secret \`${EXAMPLE_SECRET}\`.`,
}
const replay = '`true` if the webhook is sent again after it was settled; otherwise absent.'

const header = (name: string, description: string, required: boolean, example: string | undefined) => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
  example,
})

/** A request to the partner's endpoint with an example, whose signature verifies with the example's secret. */
function requestOf(type: string, description: string, body: string, isEvent: boolean) {
  const signed: Record<string, string> = signedHeaders({
    id: EVENT_ID,
    body,
    at: SENT_AT,
    secrets: [EXAMPLE_SECRET],
  })
  const { schema } = known.find(({ names }) => names.some((name) => name === type)) ?? {}
  const content = { schema: { $ref: refTo(schema?.meta()?.id ?? '') }, example: JSON.parse(body) as unknown }
  const post = {
    operationId: `webhook_${type.replaceAll('.', '_')}`,
    summary: type,
    description,
    security: [],
    parameters: [
      ...Object.entries(signing).map(([name, about]) => header(name, about, true, signed[name])),
      ...(isEvent ? [header('webhook-replay', replay, false, 'true')] : []),
    ],
    requestBody: { required: true, content: { 'application/json': content } },
    responses: {
      200: {
        description: `Received. Respond within ${REQUEST_LIMIT_MS / 1000} seconds; any status other than 2xx is retried for days.`,
      },
      ...(isEvent && { 410: { description: 'Gone: the endpoint is paused and its webhooks are held.' } }),
    },
  }
  return [type, { post }] as const
}

/** All requests to an endpoint, by their type. */
export const webhooks: Record<string, object> = Object.fromEntries([
  ...sent.map((eventName, index) => {
    const { meaning, payload } = milestones[eventName]
    const eventPayload = payload === null ? null : examplePayloads[payload]
    const body = webhookBody('sandbox')({ ...exampleFacts, eventName, eventPayload, sequence: index + 1 })
    return requestOf(eventName, `${meaning.replace(/^./, (first) => first.toUpperCase())}.`, body, true)
  }),
  ...calls.map(({ type, description }) => {
    const body = serviceCallBody(type, EXAMPLE_DATE, { partner_id: 1, environment: 'sandbox' })
    return requestOf(type, description, body, false)
  }),
])
