import type { EventPayload } from './event-payloads.ts'
import type { MilestoneName } from './milestones.ts'
import type { AnyCloseReason } from './reasons.ts'

/** The entry of list-events for a lead that was closed. It is no milestone: no history has it, and no webhook tells of it. */
export const LEAD_CLOSED_EVENT = 'lead.closed' as const

/** What list-events tells of. */
export type FeedEventName = MilestoneName | typeof LEAD_CLOSED_EVENT

export interface ClosedPayload {
  reason: AnyCloseReason
}

/** What a row of events has that is in the history. */
export interface InHistory {
  position: number
  event_name: MilestoneName
  event_payload: EventPayload
}
