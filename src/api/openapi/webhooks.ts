import { z } from 'zod'
import { REQUEST_LIMIT_MS } from '../../domain/delivery.ts'
import { environments } from '../../domain/environment.ts'
import { type MilestoneName, milestoneNames, milestones } from '../../domain/milestones.ts'
import { webhookBody } from '../../webhooks/body.ts'
import { CERTIFICATION_TYPE, PING_TYPE, serviceCallBody } from '../../webhooks/service-calls.ts'
import { id, timestamp } from '../fields.ts'
import { scoreGains } from '../schemas.ts'

/** By the milestone table's kinds of payload. */
const payloads = {
  lead_received: {
    schema: z.object({ partner_lead_id: z.string() }).nullable(),
    example: { partner_lead_id: 'LOAN-2026-118' },
  },
  score_update: {
    schema: scoreGains,
    example: {
      experian_gain: 12,
      equifax_gain: 9,
      transunion_gain: 15,
      estimated_time_remaining: '90-120 days',
    },
  },
}

const header = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
})

/** The headers of every webhook: Standard Webhooks. */
const parameters = [
  header(
    'webhook-id',
    'The event’s id, the same on every attempt. Use it to ignore webhooks that you have already processed.',
    'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
  ),
  header(
    'webhook-timestamp',
    'When this attempt was sent, in seconds since 1970. Reject timestamps older than 5 minutes.',
    '1772463846',
  ),
  header(
    'webhook-signature',
    'One `v1,<base64>` for each active secret, separated by spaces: HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`, keyed with the secret (base64 after `whsec_`). Compute it over the raw body, and accept the webhook if one signature matches.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
]

const responses = {
  200: {
    description: `Received. Respond within ${REQUEST_LIMIT_MS / 1000} seconds; any status other than 2xx is retried for days.`,
  },
  410: { description: 'Gone: the endpoint is paused and its webhooks are held.' },
}

/** All requests to an endpoint by their type: the webhooks, and those that are no events. */
export const webhooks = {
  ...Object.fromEntries(
    milestoneNames
      .filter((name) => milestones[name].webhook)
      .map((name, index) => [name, { post: operationOf(name, index + 1) }]),
  ),
  [PING_TYPE]: {
    post: serviceCall(PING_TYPE, 'A test request, which test-endpoint or our staff asked for: no event'),
  },
  [CERTIFICATION_TYPE]: {
    post: serviceCall(
      CERTIFICATION_TYPE,
      'A request of a certification: no event. Those that must be refused are not signed correctly',
    ),
  },
}

function serviceCall(type: string, summary: string) {
  const at = new Date('2026-03-02T15:04:05Z')
  const body = z.object({
    type: z.literal(type),
    timestamp: z.string().meta({ format: 'date-time' }),
    data: z.object({ partner_id: id, environment: z.enum(environments) }),
  })
  const schema = { ...z.toJSONSchema(body, { override: allowAdditions }), $schema: undefined }
  const example = JSON.parse(serviceCallBody(type, at, { partner_id: 1, environment: 'sandbox' })) as object
  return {
    operationId: `webhook_${type.replaceAll('.', '_')}`,
    summary,
    security: [],
    parameters,
    requestBody: { required: true, content: { 'application/json': { schema, example } } },
    responses: { 200: { description: `Received. Respond within ${REQUEST_LIMIT_MS / 1000} seconds.` } },
  }
}

function operationOf(name: MilestoneName, sequence: number) {
  return {
    operationId: `webhook_${name}`,
    summary: milestones[name].meaning,
    security: [],
    parameters,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaOf(name), example: exampleOf(name, sequence) } },
    },
    responses,
  }
}

function schemaOf(name: MilestoneName) {
  const { payload } = milestones[name]
  const body = z.object({
    type: z.literal(name),
    timestamp: z
      .string()
      .meta({ format: 'date-time', description: 'The same time as `created_at`, in ISO 8601.' }),
    data: z.object({
      event_id: z.string().describe('The same as the header `webhook-id`.'),
      event_name: z.literal(name),
      event_payload: payload === null ? z.null() : payloads[payload].schema,
      created_at: timestamp,
      lead_id: id,
      partner_lead_id: z.string().nullable(),
      sequence: z.int().min(1).describe('Counts the lead’s webhooks from 1, without gaps.'),
      environment: z.enum(environments),
    }),
  })
  return { ...z.toJSONSchema(body, { override: allowAdditions }), $schema: undefined }
}

function exampleOf(eventName: MilestoneName, sequence: number): unknown {
  const { payload } = milestones[eventName]
  return JSON.parse(
    webhookBody({
      eventId: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
      eventName,
      eventPayload: payload === null ? null : payloads[payload].example,
      createdAt: new Date('2026-03-02T15:04:05Z'),
      leadId: 1042,
      partnerLeadId: 'LOAN-2026-118',
      sequence,
      environment: 'sandbox',
    }),
  )
}

interface Described {
  zodSchema: z.core.$ZodTypes
  jsonSchema: { additionalProperties?: unknown }
}

/** Responses and webhooks may gain fields: a reader that rejects unknown ones would break. Strict requests say so. */
export function allowAdditions({ zodSchema: { _zod }, jsonSchema }: Described): void {
  const isStrict = _zod.def.type === 'object' && _zod.def.catchall !== undefined
  if (jsonSchema.additionalProperties === false && !isStrict) delete jsonSchema.additionalProperties
}
