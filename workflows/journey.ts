import { type CancellationScope, workflowInfo } from '@temporalio/workflow'
import type { ScenarioEnd } from '../src/sandbox/scenarios.ts'
import {
  type MilestoneItem,
  numberedKey,
  type RecordedItem,
  type ReferralState,
} from '../src/leads/referral-state.ts'
import type { MilestoneName, SignalledMilestone } from '../src/leads/milestones.ts'
import type { AnyCloseReason } from '../src/leads/reasons.ts'
import type { Counts, Note } from './messages.ts'
import type { PlayedScenario } from './scenario.ts'
import { beginPhases, enter, type Phases } from './phases.ts'

/** What a run hands to the next beside the record's state. Plain JSON, far below the server's 2 MB. */
export interface Carried {
  /** Numbers the milestones that have no key of their own. */
  counter: number
  counts: Counts
  /** Milestones that arrived and are not recorded yet. */
  inbox: MilestoneItem[]
  /** Signalled score updates that wait for their gains. */
  unscored: MilestoneItem[]
  /** The latest that were sent and recorded, at their dates: a record that was restored may lack them. */
  recent: MilestoneItem[]
  mailed: boolean
  /** Without one, its workflow was canceled, or staff closed the lead in the record. */
  closeReason: AnyCloseReason | 'not in the record' | null
  notes: Note[]
  /** Names of open webhooks by sequence, for what operators read. */
  names: Record<number, MilestoneName>
  /** An operator wants the open webhook to be tried now. */
  asked: boolean
  /** Read the record again: it was changed there. */
  recordChanged: boolean
  /** A scenario that is played, in a sandbox. */
  scenario: PlayedScenario | null
}

/** A lead as its workflow holds it in memory: one place, changed by handlers and coroutines. */
export interface Journey extends Carried {
  /** Whether it is closing is a phase: see `stateOf`. */
  state: Omit<ReferralState, 'closing'>
  phases: Phases
  wakes: number
  /** Messages of this run, against the server's limits for one run. */
  messages: number
  /** Items whose sender waits for an answer, and the answer once it is there. */
  awaited: Map<MilestoneItem, RecordedItem | undefined>
  /** Its clock is moved. */
  isMoving: boolean
  /** How the latest scenario of this run ended. */
  scenarioEnd: ScenarioEnd
  /** What a wake interrupts. */
  sending: CancellationScope | undefined
  /** Nothing is recorded before the next run has read the record, which was restored. */
  unread: boolean
  /** Operators are told of the lead once this moment's messages are taken. */
  publishing: boolean
}

const NOTES_KEPT = 20

export function beginJourney({ closing, ...state }: ReferralState, carried: Partial<Carried> = {}): Journey {
  return {
    counter: 0,
    counts: { received: 0, recorded: 0, repeated: 0, refused: 0, notUnderstood: 0 },
    inbox: [],
    unscored: [],
    recent: [],
    mailed: false,
    closeReason: null,
    notes: [],
    names: state.next === 1 ? { 1: 'lead_received' } : {},
    asked: false,
    recordChanged: false,
    scenario: null,
    ...carried,
    state,
    phases: beginPhases({ closing }),
    wakes: 0,
    messages: 0,
    awaited: new Map(),
    isMoving: false,
    scenarioEnd: 'done',
    sending: undefined,
    unread: false,
    publishing: false,
  }
}

export function carriedOf(journey: Journey): Carried {
  const { counter, counts, inbox, unscored, mailed, closeReason, notes, names, asked } = journey
  const { recent, recordChanged, scenario } = journey
  const messages = { counter, counts, inbox, unscored, recent, notes, asked }
  return { ...messages, mailed, closeReason, names, recordChanged, scenario }
}

/** The state as the next run, activities and queries know it. */
export function stateOf({ state, phases }: Journey): ReferralState {
  return { ...state, closing: phases.lead !== 'open' }
}

/** The lead's time: ours, and in a sandbox as far ahead as a tester moved it. */
export function now(journey: Journey): number {
  return Date.now() + journey.state.offset
}

/** Something for operators to know: a name and words of ours, never content. */
export function note(journey: Journey, what: string, why: string): void {
  journey.notes = [...journey.notes, { at: now(journey), what, why }].slice(-NOTES_KEPT)
}

/** Has the lead closed once all is recorded. The first reason counts; what is closed stays so. */
export function close(journey: Journey, reason?: AnyCloseReason): void {
  journey.closeReason ??= reason ?? null
  if (journey.phases.lead === 'open') enter(journey, 'lead', 'closing')
}

/** Tries the open webhook now, if there is one. */
export function sendNow(journey: Journey): void {
  if (journey.state.next > journey.state.last) return
  journey.asked = true
  wake(journey)
}

/** Looks whether the open webhook is due by now. */
export function wake(journey: Journey): void {
  journey.wakes += 1
  journey.sending?.cancel()
}

/** A key for a milestone that may repeat: unchanged by a reset, new in a new life of the workflow. */
export function nextKey(journey: Journey, name: SignalledMilestone): string {
  journey.counter += 1
  return numberedKey(name, workflowInfo().firstExecutionRunId, journey.counter)
}

/** Whether anything that arrived is still to be recorded. */
export function hasUnrecorded({ inbox, unscored, phases }: Journey): boolean {
  return inbox.length > 0 || unscored.length > 0 || phases.inbox === 'recording'
}

/** Whether the lead's webhooks go out. */
export function deliveryState({ state, phases }: Journey): 'ok' | 'failing' | 'held' {
  if (state.next > state.last) return 'ok'
  if (phases.webhooks === 'held') return 'held'
  return state.failure === null ? 'ok' : 'failing'
}

/** `webhook 3, contract_signed`; only the number if this run doesn't know the name. */
export function webhookName({ names }: Journey, sequence: number): string {
  return [`webhook ${sequence}`, ...(names[sequence] === undefined ? [] : [names[sequence]])].join(', ')
}
