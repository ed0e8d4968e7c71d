import type { Environment } from '../../values/environment.ts'
import { formatTimestamp } from '../../values/timestamps.ts'
import type { WebhookFacts } from '../decisions/webhook-facts.ts'

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
