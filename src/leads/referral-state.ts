import type { ScoreGains } from './event-payloads.ts'
import { furthest, type MilestoneName, milestones, type SignalledMilestone } from './milestones.ts'

/**
 * Where a lead stands, as its workflow needs to know it: made from PostgreSQL's record alone, so that a
 * workflow can be started again from the record at any time. Plain JSON; dates in milliseconds.
 */
export interface ReferralState {
  leadId: number
  partnerId: number
  /** The id of its create-lead request, for operators. */
  requestId?: string
  /** The id of its `lead_received`. If the record's lead has another one, this workflow is that of a lost lead. */
  firstEventId: string
  /** Milestones that are recorded, `lead_received` among them. */
  seen: MilestoneName[]
  /** The latest of them, and when it was recorded on the lead's clock. */
  lastEvent: MilestoneName
  lastEventAt: number
  /** The date from which score updates are counted: `escrow_funded`; `null` before it. */
  anchor: number | null
  /** The next score update's number, 1 for the first. */
  period: number
  /** Whether the lead's clock may be moved. */
  isSandbox: boolean
  /** How far the lead's clock runs ahead of ours (sandbox only). */
  offset: number
  /** The first open delivery's sequence; `last + 1` when none is open. */
  next: number
  /** The highest sequence. */
  last: number
  /** When the workflow completes, once mortgage ready; `null` before. */
  endsAt: number | null
  /** Whether the lead is closed or erased in the record. */
  closing: boolean
  /** The latest failure of the first open delivery; `null` while it has not failed. */
  failure: DeliveryFailure | null
}

/** The furthest milestone that is recorded. */
export const statusOf = ({ seen }: Pick<ReferralState, 'seen'>) =>
  seen.reduce<MilestoneName>(furthest, 'lead_received')

/** A delivery that fails, as operators see it. */
export interface DeliveryFailure {
  sequence: number
  /** Failures in a row. */
  failures: number
  reason: string
}

/** A lead that was just created. */
export const newReferralState = (
  facts: Pick<
    ReferralState,
    'leadId' | 'partnerId' | 'requestId' | 'firstEventId' | 'lastEventAt' | 'isSandbox'
  >,
): ReferralState => ({
  ...facts,
  seen: ['lead_received'],
  lastEvent: 'lead_received',
  anchor: null,
  period: 1,
  offset: 0,
  next: 1,
  last: 1,
  endsAt: null,
  closing: false,
  failure: null,
})

/** One milestone to record. */
export interface MilestoneItem {
  name: MilestoneName
  /** Two items with the same key are the same fact, recorded once. */
  dedupeKey: string
  gains?: ScoreGains
  /** Sandbox only. A score update without gains gets mock ones when it is recorded. */
  simulated?: true
  /** When it happened on the lead's clock, in milliseconds; when it is recorded if absent. */
  at?: number
  /** The request that simulated it. Sandbox only. */
  requestId?: string
}

/** Whether it gets mock gains when it is recorded. */
export const isMocked = ({ simulated, name, gains }: MilestoneItem) =>
  simulated === true && name === 'score_update' && gains === undefined

/** The prefix of the dedupe keys of the timer's score updates. */
export const TIMED_KEY = 'score_update#'

export const scoreUpdateKey = (period: number) => `${TIMED_KEY}${period}`

/** Whether it is a score update of the timer; every other milestone was sent. */
export function isTimed({ dedupeKey }: Pick<MilestoneItem, 'dedupeKey'>): boolean {
  return dedupeKey.startsWith(TIMED_KEY)
}

export type RecordingOutcome = 'recorded' | 'repeated' | 'closed' | 'mortgage_ready' | 'full'

export interface RecordedItem {
  outcome: RecordingOutcome
  eventId?: string
  /** The sequence of its webhook; absent for an event without a webhook, or one that was recorded before. */
  sequence?: number
}

/** What a recording must know to send the next webhook itself. */
export interface SettledUpTo {
  partnerId: number
  /** The sequence up to which all of the lead's webhooks are settled. */
  after: number
}

/** What a recording answers: outcomes in the items' order, and where the lead stands after it. */
export interface Recording {
  outcomes: RecordedItem[]
  /** The sequence of the webhook that was delivered with it; absent if none was. */
  delivered?: number
  status: MilestoneName
  anchor: number | null
  endsAt: number | null
  offset: number
  last: number
  /** When the lead's latest event was recorded. */
  lastEventAt: number
  closed: boolean
}

/** The header with which a lead's workflow tells its activities its `firstEventId`. */
export const FIRST_EVENT = 'first-event'
/** Failure types of a refused activity: the lead is not the workflow's, or the record was restored and must be read. */
export const OTHER_LEAD = 'OtherLead'
export const UNREAD = 'Unread'

/** What the record says of a lead, to its workflow. */
export interface ReadRecord {
  state: ReferralState
  /** The keys of milestones that the workflow had recorded and the record has lost. */
  lost: string[]
}

/** The most milestones that one request simulates. */
export const MOST_SIMULATED = 50

export interface Simulation {
  key: string
  /** The request that asked for it; none for a scenario. */
  request_id?: string
  events: { name: SignalledMilestone; event_payload?: ScoreGains }[]
}

/** Simulated milestones. The space keeps their keys apart from those with a signal's id, which has none. */
export function simulatedItems({ key, request_id: requestId, events }: Simulation): MilestoneItem[] {
  return events.map(({ name, event_payload: gains }, index) => {
    const dedupeKey = milestones[name].once ? name : `${name}: simulated ${key}:${index}`
    return {
      name,
      dedupeKey,
      simulated: true,
      ...(requestId !== undefined && { requestId }),
      ...(gains && { gains }),
    }
  })
}
