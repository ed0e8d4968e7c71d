import { REQUEST_ID } from '../values.ts'
import { type EventPayload, parseScoreGains, mockGains, takesPayload } from './event-payloads.ts'
import { furthest, type MilestoneName, milestones } from './milestones.ts'
import {
  isMocked,
  isTimed,
  type MilestoneItem,
  type RecordedItem,
  type RecordingOutcome,
} from './referral-state.ts'

/** Where a lead stands. */
export interface LeadStanding {
  status: MilestoneName
  nextPosition: number
  nextSequence: number
  /** `escrow_funded`, from which score updates are counted. */
  anchorAt: Date | null
  readyAt: Date | null
  lastEventAt: Date
  /** The number of its score updates, from which mock gains follow. */
  scoreUpdates: number
}

/** Where a lead stands, with what else the decision depends on. */
export interface KnownStanding extends LeadStanding {
  id: number
  isClosed: boolean
  /** The lead's time. */
  now: Date
  /** Event ids by the keys of the items that are recorded. */
  known: Record<string, string>
}

/**
 * The limit of a sandbox lead's events, because a key can simulate any number. Production has no limit: every milestone is a
 * fact.
 */
export const MOST_EVENTS = 1000

export interface NewEvent {
  eventId: string
  name: MilestoneName
  dedupeKey: string
  payload: EventPayload
  createdAt: Date
  position: number
  /** Its place among the lead's webhooks; `undefined` for an event that is none. */
  sequence: number | undefined
  requestId: string | null
}

export interface RecordingDecision {
  outcomes: RecordedItem[]
  events: NewEvent[]
  /** Where the lead stands after all of them: this is both written and returned. */
  lead: LeadStanding
}

/**
 * Decides which of the milestones that are sent to a lead are recorded.
 *
 * | The first that is so                                       | Outcome          |
 * | ---------------------------------------------------------- | ---------------- |
 * | its key is recorded, before or by an item before it          | `repeated`       |
 * | the lead is closed                                           | `closed`         |
 * | the timer's score update, and the borrower is mortgage ready | `mortgage_ready` |
 * | a sandbox, and the lead has `MOST_EVENTS`; not the timer's   | `full`           |
 * | otherwise                                                    | `recorded`       |
 *
 * Positions have no gaps, dates never go back, and the status is the furthest milestone reached.
 */
export function decideMilestones(
  { id, isClosed, now, known, ...standing }: KnownStanding,
  items: readonly MilestoneItem[],
  { newEventId, isSandbox }: { newEventId: () => string; isSandbox: boolean },
): RecordingDecision {
  const seen = new Map(Object.entries(known))
  const events: NewEvent[] = []
  let after: LeadStanding = standing
  const outcomes = items.map((item): RecordedItem => {
    const recorded = seen.get(item.dedupeKey)
    if (recorded !== undefined) return { outcome: 'repeated', eventId: recorded }
    const outcome = admit(after, isClosed, item, isSandbox)
    if (outcome !== 'recorded') return { outcome }
    const gains = isMocked(item) ? mockGains(id, after.scoreUpdates + 1) : item.gains
    const event = place(after, { ...item, ...(gains && { gains }) }, { now, eventId: newEventId() })
    after = standingAfter(after, event)
    seen.set(item.dedupeKey, event.eventId)
    events.push(event)
    const { eventId, sequence } = event
    return { outcome, eventId, ...(sequence !== undefined && { sequence }) }
  })
  return { outcomes, events, lead: after }
}

/** Decides on one item. `MOST_EVENTS` does not bound the timer's score updates, since the lead's clock does. */
function admit(
  { status, nextPosition }: LeadStanding,
  isClosed: boolean,
  item: MilestoneItem,
  isSandbox: boolean,
): RecordingOutcome {
  if (isClosed) return 'closed'
  if (isTimed(item)) return status === 'mortgage_ready' ? 'mortgage_ready' : 'recorded'
  return isSandbox && nextPosition > MOST_EVENTS ? 'full' : 'recorded'
}

/** Gives an event its date, its place in the lead's history, and among its webhooks if it is one. */
function place(
  lead: LeadStanding,
  { name, dedupeKey, gains, at, requestId }: MilestoneItem,
  { now, eventId }: { now: Date; eventId: string },
): NewEvent {
  return {
    eventId,
    name,
    dedupeKey,
    // validated here too, because the record keeps it for good
    payload: takesPayload(name) ? (parseScoreGains(gains) ?? null) : null,
    createdAt: latest(lead.lastEventAt, at === undefined ? now : new Date(at)),
    position: lead.nextPosition,
    sequence: milestones[name].webhook ? lead.nextSequence : undefined,
    // validated, because people can write workflow inputs
    requestId: requestId !== undefined && REQUEST_ID.test(requestId) ? requestId : null,
  }
}

function standingAfter(lead: LeadStanding, { name, createdAt, sequence }: NewEvent): LeadStanding {
  return {
    status: furthest(lead.status, name),
    nextPosition: lead.nextPosition + 1,
    nextSequence: sequence === undefined ? lead.nextSequence : sequence + 1,
    anchorAt: name === 'escrow_funded' ? createdAt : lead.anchorAt,
    readyAt: name === 'mortgage_ready' ? createdAt : lead.readyAt,
    lastEventAt: createdAt,
    scoreUpdates: lead.scoreUpdates + (name === 'score_update' ? 1 : 0),
  }
}

const latest = (one: Date, other: Date) => (one > other ? one : other)
