import { z } from 'zod'
import { environments } from '../../domain/environment.ts'
import type { EventPayload } from '../../domain/event-payloads.ts'
import { type MilestoneName, milestoneNames, milestones } from '../../domain/milestones.ts'
import { webhookBody } from '../../webhooks/body.ts'
import { id, timestamp } from '../fields.ts'
import { scoreGains } from '../schemas.ts'
import { allowAdditions } from './allow-additions.ts'

const payloadSchemas = {
  lead_received: z.object({ partner_lead_id: z.string() }).nullable(),
  score_update: scoreGains,
}

const payloadExamples: Partial<Record<MilestoneName, EventPayload>> = {
  lead_received: { partner_lead_id: 'LOAN-2026-118' },
  score_update: {
    experian_gain: 12,
    equifax_gain: 9,
    transunion_gain: 15,
    estimated_time_remaining: '90-120 days',
  },
}

const text = (description: string, example: string) => ({
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
})

/** The headers of every webhook: Standard Webhooks. */
const parameters = [
  {
    name: 'webhook-id',
    ...text(
      'The event’s id, the same on every attempt: drop what you have seen before.',
      'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
    ),
  },
  {
    name: 'webhook-timestamp',
    ...text(
      'When this attempt was sent, in seconds since 1970: refuse one older than 5 minutes.',
      '1772463846',
    ),
  },
  {
    name: 'webhook-signature',
    ...text(
      'One `v1,<base64>` for each live secret, separated by spaces: HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret (base64 after `whsec_`). Accept if one matches. Compute it over the body as received.',
      'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    ),
  },
]

const answers = {
  200: { description: 'You have it. Answer within 15 seconds; anything but a 2xx is tried again for days.' },
  410: { description: 'Gone: the endpoint is paused and its webhooks wait.' },
}

/** All webhooks, by event name, with the body as it is sent. */
export function webhooks() {
  const sent = milestoneNames.filter((name) => milestones[name].webhook)
  return Object.fromEntries(sent.map((name, index) => [name, { post: operationOf(name, index + 1) }]))
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
    responses: answers,
  }
}

function schemaOf(name: MilestoneName) {
  const { payload } = milestones[name]
  const body = z.object({
    type: z.literal(name),
    timestamp: z
      .string()
      .meta({ format: 'date-time', description: 'The instant of `created_at`, in ISO 8601.' }),
    data: z.object({
      event_id: z.string().meta({ description: 'The same as the header `webhook-id`.' }),
      event_name: z.literal(name),
      event_payload: payload === null ? z.null() : payloadSchemas[payload],
      created_at: timestamp,
      lead_id: id,
      partner_lead_id: z.string().nullable(),
      sequence: z.int().min(1).meta({ description: 'Its place among the lead’s webhooks, without gaps.' }),
      environment: z.enum(environments),
    }),
  })
  return { ...z.toJSONSchema(body, { override: allowAdditions }), $schema: undefined }
}

function exampleOf(eventName: MilestoneName, sequence: number): unknown {
  return JSON.parse(
    webhookBody({
      eventId: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
      eventName,
      eventPayload: payloadExamples[eventName] ?? null,
      createdAt: new Date('2026-03-02T15:04:05Z'),
      leadId: 1042,
      partnerLeadId: 'LOAN-2026-118',
      sequence,
      environment: 'sandbox',
    }),
  )
}
