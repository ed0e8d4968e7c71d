import { allHandlersFinished, type CancellationScope, workflowInfo } from '@temporalio/workflow'
import type { AnyCloseReason } from '../src/leads/reasons.ts'
import type { MilestoneItem, RecordedItem, ReferralState } from '../src/leads/referral-state.ts'
import { scoreDate } from '../src/leads/score-dates.ts'
import type { ScenarioEnd, ScenarioName } from '../src/sandbox/scenarios.ts'

/** Where the parts of a lead's workflow are. What is asked for meanwhile is remembered until its turn comes. */
export interface Phases {
  /** `closing`: it was asked for; `closed` in the record; `over` once nothing is left to record or to send. */
  lead: 'open' | 'closing' | 'closed' | 'over'
  inbox: 'idle' | 'recording'
  /** `welcoming`: the first goes with the onboarding email; `held`: the endpoint is paused, or not set. */
  webhooks: 'idle' | 'welcoming' | 'sending' | 'held'
}

/** A scenario that is played, in a sandbox. */
export interface PlayedScenario {
  name: ScenarioName
  /** With the number of a step, the key of its milestones: one that is played once more makes its own chats. */
  key: string
  step: number
}

/** What was ignored, wholly or in part, or went wrong, and why. `what` is a name, never content. */
export interface Note {
  at: number
  what: string
  why: string
}

/** What a run hands to the next beside the record's state. Plain JSON, far below the server's 2 MB. */
const nothingCarried = () => ({
  /** Numbers the milestones that have no key of their own. */
  counter: 0,
  /** What became of what was received; `refused`: the lead was closed or full, or no gains were to be had. */
  counts: { received: 0, recorded: 0, repeated: 0, refused: 0, notUnderstood: 0 },
  /** Milestones that arrived and are not recorded yet. */
  inbox: [] as MilestoneItem[],
  /** Signalled score updates that wait for their gains. */
  unscored: [] as MilestoneItem[],
  /** The latest that were sent and recorded, at their dates: a record that was restored may lack them. */
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
    /** Whether it is closing is a phase: see `stateOf`. */
    state,
    phases,
    wakes: 0,
    /** Items whose sender waits for an answer, and the answer once it is there. */
    awaited: new Map<MilestoneItem, RecordedItem | undefined>(),
    /** Its clock is moved. */
    isMoving: false,
    /** How the latest scenario of this run ended. */
    scenarioEnd: 'done' as ScenarioEnd,
    /** What a wake interrupts. */
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

/** The lead's time: ours, and in a sandbox as far ahead as a tester moved it. */
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

/** Looks whether the open webhook is due by now. */
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

/** Whether a score update of the timer's is due, or being asked for. */
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
 * Whether this run begins nothing new, so that the next run can start. This works while signals keep arriving: the inbox
 * is handed on, and once a run has tried to end, the server accepts no signal until it has.
 */
export function isWindingDown({ inbox, awaited, recordChanged }: Journey): boolean {
  if (inbox.length > MOST_HANDED_ON) return false
  // not allHandlersFinished(): among signals that keep coming, one has always just begun
  return recordChanged || (workflowInfo().continueAsNewSuggested && awaited.size === 0)
}

/**
 * Bounds a run's history, or has the record read. Nothing is lost: waits start again, and the rest is in the record. Between
 * milestones a short history is enough: Temporal keeps that of an open lead for months.
 */
export function isTimeToContinue(journey: Journey): boolean {
  if (journey.phases.inbox !== 'idle' || !allHandlersFinished()) return false
  return isWindingDown(journey) || (workflowInfo().historyLength >= IDLE_EVENTS && isIdle(journey))
}

/** Whether nothing waits and nothing is under way, so that nobody notices the next run's beginning. */
function isIdle(journey: Journey): boolean {
  const { state, phases, mailed, scenario } = journey
  if (phases.lead !== 'open' || phases.webhooks !== 'idle' || scenario !== null || !mailed) return false
  return state.next > state.last && !hasUnrecorded(journey) && !isScoreDue(journey)
}
