import { allHandlersFinished, type CancellationScope, workflowInfo } from '@temporalio/workflow'
import type { AnyCloseReason } from '../src/leads/reasons.ts'
import type { MilestoneItem, RecordedItem, ReferralState } from '../src/leads/referral-state.ts'
import { scoreDate } from '../src/leads/score-dates.ts'
import type { ScenarioEnd, ScenarioName } from '../src/sandbox/scenarios.ts'

/** The phases of a lead's workflow. Requests that come in another phase are kept until their turn. */
export interface Phases {
  /** `closing`: a close was requested; `closed` in the record; `over` once nothing is left to record or to send. */
  lead: 'open' | 'closing' | 'closed' | 'over'
  inbox: 'idle' | 'recording'
  /** `welcoming`: the first goes with the onboarding email; `held`: the endpoint is paused, or not set. */
  webhooks: 'idle' | 'welcoming' | 'sending' | 'held'
}

/** A scenario that is played, in a sandbox. */
export interface PlayedScenario {
  name: ScenarioName
  /** With a step's number, the key of its milestones: a scenario that is played again records its own chats. */
  key: string
  step: number
}

/** What was ignored, wholly or in part, or went wrong, and why. `what` is a name, never content. */
export interface Note {
  at: number
  what: string
  why: string
}

/** What a run hands to the next besides the record's state. Plain JSON, far below the server's 2 MB. */
const nothingCarried = () => ({
  /** Numbers the milestones that have no key of their own. */
  counter: 0,
  /** Outcomes of what was received. `refused`: the lead was closed or full, or the provider gave no gains. */
  counts: { received: 0, recorded: 0, repeated: 0, refused: 0, notUnderstood: 0 },
  /** Milestones that arrived and are not recorded yet. */
  inbox: [] as MilestoneItem[],
  /** Signalled score updates that wait for their gains. */
  unscored: [] as MilestoneItem[],
  /** The latest milestones that were sent and recorded, with their dates: a restored record may lack them. */
  recent: [] as MilestoneItem[],
  /** The borrower has the onboarding email, or gets none. */
  mailed: false,
  /** `null` after a cancellation request, or if staff closed the lead in the record. */
  closeReason: null as AnyCloseReason | 'not in the record' | null,
  notes: [] as Note[],
  /** The record has changed, and is to be read again. */
  recordChanged: false,
  scenario: null as PlayedScenario | null,
})

export type Carried = ReturnType<typeof nothingCarried>

/** A lead as its workflow holds it in memory: one place, changed by handlers and coroutines. */
export type Journey = ReturnType<typeof beginJourney>

export function beginJourney({ closing, ...state }: ReferralState, carried: Partial<Carried> = {}) {
  const phases: Phases = { lead: closing ? 'closing' : 'open', inbox: 'idle', webhooks: 'idle' }
  return {
    ...nothingCarried(),
    ...carried,
    /** Without `closing`, which is a phase: see `stateOf`. */
    state,
    phases,
    wakes: 0,
    /** Items whose sender waits for an answer, and the answer once it is there. */
    awaited: new Map<MilestoneItem, RecordedItem | undefined>(),
    /** Whether its clock is being moved. */
    isMoving: false,
    /** How the latest scenario of this run ended. */
    scenarioEnd: 'done' as ScenarioEnd,
    /** The delivery under way, which a wake interrupts. */
    sending: undefined as CancellationScope | undefined,
  }
}

export function carriedOf(journey: Journey): Carried {
  const keys = Object.keys(nothingCarried()) as (keyof Carried)[]
  return Object.fromEntries(keys.map((key) => [key, journey[key]])) as unknown as Carried
}

/** The state as the next run, activities and queries know it. */
export function stateOf({ state, phases }: Journey): ReferralState {
  return { ...state, closing: phases.lead !== 'open' }
}

/** The time on the lead's clock, which a sandbox can move ahead of ours. */
export function now({ state }: Journey): number {
  return Date.now() + state.offset
}

const NOTES_KEPT = 20

/** Something for operators to know: a name and words of ours, never content. */
export function note(journey: Journey, what: string, why: string): void {
  journey.notes = [...journey.notes, { at: now(journey), what, why }].slice(-NOTES_KEPT)
}

/** Has the lead closed once all is recorded. The first reason counts. */
export function close(journey: Journey, reason: AnyCloseReason | null = null): void {
  journey.closeReason ??= reason
  if (journey.phases.lead === 'open') journey.phases.lead = 'closing'
}

/** Has the open webhook tried again, if it is due by now. */
export function wake(journey: Journey): void {
  journey.wakes += 1
  journey.sending?.cancel()
}

/** Whether anything that arrived is still to be recorded. */
export function hasUnrecorded({ inbox, unscored }: Journey): boolean {
  return inbox.length > 0 || unscored.length > 0
}

/** Whether the timer raises score updates: from escrow_funded to mortgage_ready. */
export function isCadenceOn({ state, phases }: Journey): boolean {
  return phases.lead === 'open' && state.anchor !== null && state.endsAt === null
}

/** When the next score update is due, on our clock; the lead's may run ahead of it. */
export function dueAt({ state }: Journey): number {
  return scoreDate(state.anchor ?? 0, state.period) - state.offset
}

/** Whether the timer's score update is due, or its gains are being asked for. */
function isScoreDue(journey: Journey): boolean {
  return isCadenceOn(journey) && dueAt(journey) <= Date.now()
}

/** Whether the lead's webhooks go out. */
export function deliveryState({ state, phases }: Journey): 'ok' | 'failing' | 'held' {
  if (state.next > state.last) return 'ok'
  if (phases.webhooks === 'held') return 'held'
  return state.failure === null ? 'ok' : 'failing'
}

/** A run's input may have 2 MB: an item has 900 bytes at most, and `unscored` and `recent` take their part. */
const MOST_HANDED_ON = 800
/** A history of about 14 kB: a dozen milestones. */
const IDLE_EVENTS = 128

/**
 * Whether this run begins nothing new, so that it can continue as new. This works while signals keep arriving: the inbox is
 * handed on, and once a run has tried to end, the server accepts no signal until it has.
 */
export function isWindingDown({ inbox, awaited, recordChanged }: Journey): boolean {
  if (inbox.length > MOST_HANDED_ON) return false
  // not allHandlersFinished(): among signals that keep coming, one has always just begun
  return recordChanged || (workflowInfo().continueAsNewSuggested && awaited.size === 0)
}

/**
 * Whether to continue as new, to bound the history or to read the record. Nothing is lost: waits start again, and the rest is
 * in the record. Idle runs end sooner, because Temporal keeps the history of an open lead for months.
 */
export function isTimeToContinue(journey: Journey): boolean {
  if (journey.phases.inbox !== 'idle' || !allHandlersFinished()) return false
  return isWindingDown(journey) || (workflowInfo().historyLength >= IDLE_EVENTS && isIdle(journey))
}

/** Whether nothing waits and nothing is under way, so that continuing as new delays nothing. */
function isIdle(journey: Journey): boolean {
  const { state, phases, mailed, scenario } = journey
  if (phases.lead !== 'open' || phases.webhooks !== 'idle' || scenario !== null || !mailed) return false
  return state.next > state.last && !hasUnrecorded(journey) && !isScoreDue(journey)
}
