import type { EventPayload } from '../leads/event-payloads.ts'
import type { MilestoneName } from '../leads/milestones.ts'
import { type Environment, formatTimestamp } from '../values.ts'

/** What a webhook tells a partner. */
export interface WebhookFacts {
  /** `evt_<uuidv7>`, also the webhook's id. */
  eventId: string
  eventName: MilestoneName
  eventPayload: EventPayload
  createdAt: Date
  leadId: number
  partnerLeadId: string | null
  /** The event's place among the lead's webhooks, from 1: gapless except after an announced restore. */
  sequence: number
}

/**
 * Makes the body of a webhook: ids and milestones, never a name, an email address or a phone number. It is stored as text, so that
 * every attempt signs and sends the same bytes.
 *
 * Source: Standard Webhooks, "payload structure": `{type, timestamp, data}`.
 */
export const webhookBody =
  (environment: Environment) =>
  (event: WebhookFacts): string => {
    const createdAt = formatTimestamp(event.createdAt)
    return JSON.stringify({
      type: event.eventName,
      timestamp: `${createdAt.replace(' ', 'T')}Z`,
      data: {
        event_id: event.eventId,
        event_name: event.eventName,
        event_payload: event.eventPayload,
        created_at: createdAt,
        lead_id: event.leadId,
        partner_lead_id: event.partnerLeadId,
        sequence: event.sequence,
        environment,
      },
    })
  }

export type WebhookBody = ReturnType<typeof webhookBody>

/** Types of requests that are no events. No receiver can know the last one. */
export const PING_TYPE = 'endpoint.ping'
export const CERTIFICATION_TYPE = 'endpoint.certification'
export const UNKNOWN_TYPE = 'endpoint.certification.unknown_type'

interface ServiceCall {
  partner_id: number
  environment: Environment
}

const secondsOf = (at: Date) => `${at.toISOString().slice(0, 19)}Z`

/** The body of a request that is no event. */
export const serviceCallBody = (type: string, at: Date, data: ServiceCall) =>
  JSON.stringify({ type, timestamp: secondsOf(at), data })

/**
 * The body of a certification check: valid JSON that no serializer writes, with more white space and escapes than it needs. A receiver
 * that verifies what it has parsed and written again computes another signature.
 */
export function certificationBody(
  type: string,
  at: Date,
  { partner_id: id, environment }: ServiceCall,
): string {
  const data = `{ "partner_id" :${id},\n\t\t"environment": ${escaped(environment)} }`
  return `{ "type" :${escaped(type)},\n\t"data": ${data} ,\n\t"timestamp": "${secondsOf(at)}" }`
}

/** A JSON string whose first letter is an escape. */
function escaped(text: string): string {
  const code = text.charCodeAt(0).toString(16).padStart(4, '0')
  return `"\\u${code}${JSON.stringify(text.slice(1)).slice(1)}`
}

/** The same JSON with one byte of white space changed, so that only a signature over the raw bytes tells. */
export const withOneByteChanged = (body: string) => body.replace('\n', ' ')
