import { type CancellationScope, workflowInfo } from '@temporalio/workflow'
import type { MilestoneItem, Recording, ReferralState } from '../src/domain/referral.ts'
import type { Note } from './messages.ts'

/** What a run hands to the next beside the record's state. */
export interface Carried {
  /** Numbers the milestones that have no key of their own. */
  counter: number
  /** Milestones that arrived and are not recorded yet. */
  inbox: MilestoneItem[]
  /** Signalled score updates that wait for their gains. */
  unscored: MilestoneItem[]
  mailed: boolean
  closeReason: string | null
  notes: Note[]
}

/** A lead as its workflow holds it in memory: one place, changed by handlers and coroutines. */
export interface Journey extends Carried {
  state: ReferralState
  /** Names of recorded milestones by sequence, for what operators read. */
  names: Map<number, string>
  recording: boolean
  parked: boolean
  /** Closed in the record: nothing is recorded any more. */
  closed: boolean
  /** The record is to be read again: somebody moved the lead's clock there. */
  clockMoved: boolean
  wakes: number
  signals: number
  sending: CancellationScope | undefined
}

const NOTES_KEPT = 20

export function beginJourney(state: ReferralState, carried: Partial<Carried> = {}): Journey {
  return {
    counter: 0,
    inbox: [],
    unscored: [],
    mailed: false,
    closeReason: null,
    notes: [],
    ...carried,
    state,
    names: new Map(),
    recording: false,
    parked: false,
    closed: false,
    clockMoved: false,
    wakes: 0,
    signals: 0,
    sending: undefined,
  }
}

export function carriedOf(journey: Journey): Carried {
  const { counter, inbox, unscored, mailed, closeReason, notes } = journey
  return { counter, inbox, unscored, mailed, closeReason, notes }
}

/** The lead's time: ours, and in a sandbox as far ahead as a tester moved it. */
export function now(journey: Journey): number {
  return Date.now() + journey.state.offset
}

export function note(journey: Journey, what: string, why: string): void {
  journey.notes = [...journey.notes, { at: now(journey), what, why }].slice(-NOTES_KEPT)
}

/** A key for a milestone that may repeat: unchanged by a reset, new in a new life of the workflow. */
export function nextKey(journey: Journey, name: string): string {
  journey.counter += 1
  return `${name}@${workflowInfo().firstExecutionRunId}:${journey.counter}`
}

/** Takes over where the lead stands after a recording. */
export function applyRecording(
  journey: Journey,
  recording: Recording,
  items: readonly MilestoneItem[],
): void {
  const { state } = journey
  for (const [index, { outcome, sequence }] of recording.outcomes.entries()) {
    const name = items[index]?.name
    if (name === undefined) continue
    if (outcome === 'recorded' || outcome === 'repeated') {
      if (!state.seen.includes(name)) state.seen.push(name)
      if (sequence !== undefined) journey.names.set(sequence, name)
    }
    if (outcome !== 'recorded') note(journey, name, refusals[outcome])
  }
  state.anchor = recording.anchor
  state.endsAt = recording.endsAt
  state.offset = recording.offset
  state.last = Math.max(state.last, recording.last)
  if (recording.closed) journey.closed = state.closing = true
}

const refusals = {
  repeated: 'already recorded: nothing changed',
  closed: 'the lead is closed',
  mortgage_ready: 'the borrower is mortgage ready: no more score updates',
}
