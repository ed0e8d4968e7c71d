import type { EventPayload } from '../leads/event-payloads.ts'
import type { MilestoneName } from '../leads/milestones.ts'
import { type Environment, formatTimestamp } from '../values.ts'

/** What a webhook tells a partner: never a name, an email address or a phone number. */
export interface WebhookFacts {
  /** `evt_<uuidv7>`, also the webhook's id. */
  eventId: string
  eventName: MilestoneName
  eventPayload: EventPayload
  createdAt: Date
  leadId: number
  partnerLeadId: string | null
  /** The event's place among the lead's webhooks, from 1: strictly increasing, and gapless except after an announced restore. */
  sequence: number
}

export interface WebhookEvent extends WebhookFacts {
  environment: Environment
}

/**
 * The body of a webhook. It is stored as text, so that every attempt signs and sends the same bytes. It holds ids and
 * milestones, never a name, an email address or a phone number.
 *
 * Source: Standard Webhooks, "payload structure": `{type, timestamp, data}`.
 */
export function webhookBody(event: WebhookEvent): string {
  const createdAt = formatTimestamp(event.createdAt)
  return JSON.stringify({
    type: event.eventName,
    // from `created_at`: both are the same second
    timestamp: `${createdAt.replace(' ', 'T')}Z`,
    data: {
      event_id: event.eventId,
      event_name: event.eventName,
      event_payload: event.eventPayload,
      created_at: createdAt,
      lead_id: event.leadId,
      partner_lead_id: event.partnerLeadId,
      sequence: event.sequence,
      environment: event.environment,
    },
  })
}

/** Types of calls that are no events: no lead is in them. */
export const PING_TYPE = 'endpoint.ping'
export const CERTIFICATION_TYPE = 'endpoint.certification'
/** One that no receiver can know. */
export const UNKNOWN_TYPE = 'endpoint.certification.unknown_type'

/** The body of a call that is no event: Standard Webhooks' `{type, timestamp, data}`. */
export function serviceCallBody(
  type: string,
  at: Date,
  data: { partner_id: number; environment: Environment },
): string {
  return JSON.stringify({ type, timestamp: `${at.toISOString().slice(0, 19)}Z`, data })
}

/**
 * The body of a check: valid JSON that no serializer writes, with more white space and escapes than it needs. A receiver
 * that verifies what it has parsed and written again computes another signature.
 */
export function certificationBody(
  type: string,
  at: Date,
  { partner_id: partnerId, environment }: { partner_id: number; environment: Environment },
): string {
  const timestamp = JSON.stringify(`${at.toISOString().slice(0, 19)}Z`)
  const data = `{ "partner_id" :${partnerId},\n\t\t"environment": ${escaped(environment)} }`
  return `{ "type" :${escaped(type)},\n\t"data": ${data} ,\n\t"timestamp": ${timestamp} }`
}

/** A JSON string whose first letter is an escape. */
function escaped(text: string): string {
  const code = text.charCodeAt(0).toString(16).padStart(4, '0')
  return `"\\u${code}${JSON.stringify(text.slice(1)).slice(1)}`
}

/** The same JSON with one byte changed: white space, so that only a signature over the raw bytes tells. */
export function withOneByteChanged(body: string): string {
  return body.replace('\n', ' ')
}
