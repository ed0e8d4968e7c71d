import type { Environment } from '../domain/environment.ts'
import type { EventPayload } from '../domain/event-payloads.ts'
import type { MilestoneName } from '../domain/milestones.ts'
import { formatTimestamp } from '../domain/timestamps.ts'

export interface WebhookEvent {
  /** `evt_<uuidv7>`, also the `webhook-id` of every attempt. */
  eventId: string
  eventName: MilestoneName
  eventPayload: EventPayload
  createdAt: Date
  leadId: number
  partnerLeadId: string | null
  /** The place among the lead's webhooks: 1, 2, 3, … without gaps. */
  sequence: number
  environment: Environment
}

/**
 * The body of a webhook, made once and stored as text: it is sent and signed byte for byte on every
 * attempt. It carries ids and milestones only, never a name, an e-mail address or a phone number.
 *
 * Source: Standard Webhooks, "payload structure": `{type, timestamp, data}`.
 */
export function webhookBody(event: WebhookEvent): string {
  const createdAt = formatTimestamp(event.createdAt)
  return JSON.stringify({
    type: event.eventName,
    // Derived from `created_at`, so that both name the same instant to the second.
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
