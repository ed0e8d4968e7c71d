import { z } from 'zod'
import { REQUEST_LIMIT_MS } from '../deliveries/delivery-states.ts'
import { CERTIFICATION_TYPE, PING_TYPE, serviceCallBody, webhookBody } from '../webhooks/body.ts'
import { signedHeaders } from '../webhooks/signature.ts'
import { milestoneNames, milestones } from '../leads/milestones.ts'
import { eventShape, kindsOf, laterName } from '../leads/event-schema.ts'
import { environment, ofLead, ofPartner, webhookSequence } from './schemas.ts'
import { discriminated, EXAMPLE_SECRET, refTo } from './json-schema.ts'

/** All requests to an endpoint by their type: the webhooks, and those that are no events. */

const EVENT_ID = 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e'
const EXAMPLE_DATE = new Date('2026-03-02T15:04:05Z')
/** Of the attempt. */
const SENT_AT = new Date('2026-03-02T15:04:06Z')

const exampleFacts = {
  eventId: EVENT_ID,
  createdAt: EXAMPLE_DATE,
  leadId: 1042,
  partnerLeadId: 'LOAN-2026-118',
  environment: 'sandbox' as const,
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

interface Request {
  type: string
  description: string
  /** Of the example, as it is sent. */
  body: string
}

interface Kind {
  schemaId: string
  schema: z.ZodType
  requests: Request[]
}

const sentAt = z.string().meta({ format: 'date-time', description: 'ISO 8601.' })
const sent = milestoneNames.filter((name) => milestones[name].webhook)

/** One schema for each kind of payload. */
const ofMilestones = kindsOf(sent, 'MilestoneWebhookType').map(({ prefix, names, fields }): Kind => {
  const data = z
    .object({
      event_id: z.string().describe('The same as the header `webhook-id`.'),
      ...eventShape,
      ...fields,
      lead_id: ofLead,
      partner_lead_id: z.string().nullable().describe('As it was when the event was recorded.'),
      sequence: webhookSequence,
      environment,
    })
    .meta({ id: `${prefix}WebhookData` })
  const schemaId = `${prefix}Webhook`
  const timestamp = sentAt.describe('The same time as `created_at`, in ISO 8601.')
  const schema = z.object({ type: fields.event_name, timestamp, data }).meta({ id: schemaId })
  const requests = sent.flatMap((eventName, index): Request[] => {
    if (!names.includes(eventName)) return []
    const { meaning, payload } = milestones[eventName]
    const eventPayload = payload === null ? null : examplePayloads[payload]
    const body = webhookBody({ ...exampleFacts, eventName, eventPayload, sequence: index + 1 })
    return [
      { type: eventName, description: `${meaning.replace(/^./, (first) => first.toUpperCase())}.`, body },
    ]
  })
  return { schemaId, schema, requests }
})

const noEvent = (type: string, schemaId: string, description: string): Kind => {
  const data = z.object({ partner_id: ofPartner, environment }).meta({ id: `${schemaId}Data` })
  const schema = z
    .object({ type: z.literal(type).describe('What the request is.'), timestamp: sentAt, data })
    .meta({ id: schemaId })
  const body = serviceCallBody(type, EXAMPLE_DATE, { partner_id: 1, environment: 'sandbox' })
  return { schemaId, schema, requests: [{ type, description, body }] }
}

const kinds = [
  ...ofMilestones,
  noEvent(
    PING_TYPE,
    'EndpointPing',
    'A test request, which test-endpoint or our staff asked for. It is not an event.',
  ),
  noEvent(
    CERTIFICATION_TYPE,
    'EndpointCertification',
    'A request of a certification. It is not an event. Those that must be refused are not signed correctly.',
  ),
].map((kind) => ({ ...kind, names: kind.requests.map(({ type }) => type) }))

const others = z
  .object({
    type: laterName(kinds.flatMap(({ names }) => names)),
    timestamp: sentAt,
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'OtherWebhook' })

discriminated(
  'WebhookEvent',
  'type',
  kinds,
  others,
  'Any request to your endpoint. Accept and ignore a `type` that you do not know: new ones may be added.',
)

const header = (name: string, description: string, example: string | undefined, required = true) => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
  example,
})

/** The headers of every request: Standard Webhooks. Those of the example verify with the example's secret. */
function parametersOf(body: string) {
  const signed = signedHeaders({ id: EVENT_ID, body, at: SENT_AT, secrets: [EXAMPLE_SECRET] })
  return [
    header(
      'webhook-id',
      'The event’s id, the same on every attempt. Use it to ignore webhooks that you have already processed.',
      signed['webhook-id'],
    ),
    header(
      'webhook-timestamp',
      'When this attempt was sent, in seconds since 1970. Reject timestamps older than 5 minutes.',
      signed['webhook-timestamp'],
    ),
    header(
      'webhook-signature',
      `One \`v1,<base64>\` for each active secret, separated by spaces: HMAC-SHA256 of \`<webhook-id>.<webhook-timestamp>.<body>\`, keyed with the secret (base64 after \`whsec_\`). Compute it over the raw body, and accept the webhook if one signature matches. The example is that of the example body without white space between its tokens, made with \`${EXAMPLE_SECRET}\`.`,
      signed['webhook-signature'],
    ),
  ]
}

/** Beside them, of an event. */
const replay = header(
  'webhook-replay',
  '`true` if the webhook is sent again after it was settled; otherwise absent.',
  'true',
  false,
)
const received = {
  description: `Received. Respond within ${REQUEST_LIMIT_MS / 1000} seconds; any status other than 2xx is retried for days.`,
}
const gone = { description: 'Gone: the endpoint is paused and its webhooks are held.' }

const described = kinds.flatMap(({ schemaId, requests }) =>
  requests.map(({ type, description, body }) => {
    const isEvent = type in milestones
    const post = {
      operationId: `webhook_${type.replaceAll('.', '_')}`,
      summary: type,
      description,
      security: [],
      parameters: [...parametersOf(body), ...(isEvent ? [replay] : [])],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: { $ref: refTo(schemaId) }, example: JSON.parse(body) as unknown },
        },
      },
      responses: { 200: received, ...(isEvent && { 410: gone }) },
    }
    return [type, { post }] as const
  }),
)
const order = [...sent, PING_TYPE, CERTIFICATION_TYPE] as string[]

export const webhooks: Record<string, object> = Object.fromEntries(
  described.toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other)),
)
