import type { EventPayload } from '../../leads/decisions/event-payloads.ts'
import type { MilestoneName } from '../../leads/decisions/milestones.ts'

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
