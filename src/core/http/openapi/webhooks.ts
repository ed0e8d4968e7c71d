import { REQUEST_LIMIT_MS } from '../../deliveries/decisions/delivery.ts'
import { type MilestoneName, milestones } from '../../leads/decisions/milestones.ts'
import { webhookBody } from '../../deliveries/webhooks/body.ts'
import { serviceCallBody } from '../../deliveries/webhooks/service-calls.ts'
import { signedHeaders } from '../../deliveries/webhooks/signature.ts'
import { EXAMPLE_SECRET } from './example-secret.ts'
import { refTo } from './json-schema.ts'
import { milestoneWebhooks, serviceCalls, webhookNames } from './webhook-schemas.ts'

const EVENT_ID = 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e'
const EXAMPLE_DATE = new Date('2026-03-02T15:04:05Z')
/** Of the attempt. */
const SENT_AT = new Date('2026-03-02T15:04:06Z')
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

const exampleFacts = {
  eventId: EVENT_ID,
  createdAt: EXAMPLE_DATE,
  leadId: 1042,
  partnerLeadId: 'LOAN-2026-118',
  environment: 'sandbox' as const,
}

const header = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
})

/** The headers of every request: Standard Webhooks. Those of the example verify with the example's secret. */
function parametersOf(body: string) {
  const signed = signedHeaders({ id: EVENT_ID, body, at: SENT_AT, secrets: [EXAMPLE_SECRET] })
  const example = (name: string) => signed[name] ?? ''
  return [
    header(
      'webhook-id',
      'The event’s id, the same on every attempt. Use it to ignore webhooks that you have already processed.',
      example('webhook-id'),
    ),
    header(
      'webhook-timestamp',
      'When this attempt was sent, in seconds since 1970. Reject timestamps older than 5 minutes.',
      example('webhook-timestamp'),
    ),
    header(
      'webhook-signature',
      `One \`v1,<base64>\` for each active secret, separated by spaces: HMAC-SHA256 of \`<webhook-id>.<webhook-timestamp>.<body>\`, keyed with the secret (base64 after \`whsec_\`). Compute it over the raw body, and accept the webhook if one signature matches. The example is that of the example body without white space between its tokens, made with \`${EXAMPLE_SECRET}\`.`,
      example('webhook-signature'),
    ),
  ]
}

/** Beside them, of a milestone's webhook. */
const replay = {
  ...header(
    'webhook-replay',
    '`true` if the webhook is sent again after it was settled; otherwise absent.',
    'true',
  ),
  required: false,
}

const responses = {
  200: {
    description: `Received. Respond within ${REQUEST_LIMIT_MS / 1000} seconds; any status other than 2xx is retried for days.`,
  },
  410: { description: 'Gone: the endpoint is paused and its webhooks are held.' },
}

/** All requests to an endpoint by their type: the webhooks, and those that are no events. */
export const webhooks: Record<string, object> = {
  ...Object.fromEntries(
    webhookNames.map((name, index) => [
      name,
      describe(name, {
        description: sentence(milestones[name].meaning),
        schemaId: milestoneWebhooks.find(({ names }) => names.includes(name))?.schemaId ?? '',
        body: exampleOf(name, index + 1),
        more: [replay],
        responses,
      }),
    ]),
  ),
  ...Object.fromEntries(
    serviceCalls.map(({ type, schemaId, description }) => [
      type,
      describe(type, {
        description,
        schemaId,
        body: serviceCallBody(type, EXAMPLE_DATE, { partner_id: 1, environment: 'sandbox' }),
        responses: { 200: responses[200] },
      }),
    ]),
  ),
}

interface Description {
  description: string
  schemaId: string
  /** Of the example, as it is sent. */
  body: string
  /** Parameters beside those of every request. */
  more?: object[]
  responses: object
}

function describe(
  type: string,
  { description, schemaId, body, more = [], responses: possible }: Description,
) {
  return {
    post: {
      operationId: `webhook_${type.replaceAll('.', '_')}`,
      summary: type,
      description,
      security: [],
      parameters: [...parametersOf(body), ...more],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: { $ref: refTo(schemaId) }, example: JSON.parse(body) as unknown },
        },
      },
      responses: possible,
    },
  }
}

function sentence(text: string): string {
  return `${text.replace(/^./, (first) => first.toUpperCase())}.`
}

function exampleOf(eventName: MilestoneName, sequence: number): string {
  const { payload } = milestones[eventName]
  const eventPayload = payload === null ? null : examplePayloads[payload]
  return webhookBody({ ...exampleFacts, eventName, eventPayload, sequence })
}
