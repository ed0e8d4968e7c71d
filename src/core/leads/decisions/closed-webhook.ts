import type { EventPayload } from './event-payloads.ts'
import type { MilestoneName } from './milestones.ts'
import type { AnyCloseReason } from './reasons.ts'

/**
 * The webhook that tells a partner who asked for it that a lead was closed. It is no milestone: no history and no feed has
 * it, and it counts among the lead's webhooks only.
 */
export const LEAD_CLOSED_WEBHOOK = 'lead.closed' as const

/** What webhooks tell of. */
export type WebhookName = MilestoneName | typeof LEAD_CLOSED_WEBHOOK

/** What partners can ask to be told of beside milestones. */
export const notifications = [LEAD_CLOSED_WEBHOOK] as const
export type Notification = (typeof notifications)[number]

export interface ClosedPayload {
  reason: AnyCloseReason
}

/** What a row of events has that is in the history. */
export interface InHistory {
  position: number
  event_name: MilestoneName
  event_payload: EventPayload
}
