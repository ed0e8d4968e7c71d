import {
  isTimed,
  type MilestoneItem,
  type RecordedItem,
  type Recording,
  type Sent,
  type SettledUpTo,
} from '../src/leads/referral-state.ts'
import { type Journey, note } from './journey.ts'
import type { MilestoneAnswer } from './messages.ts'
import { enter } from './phases.ts'

/** Bounds memory while an endpoint is paused for months. */
const NAMES_KEPT = 100
/** Bounds a run's input. */
const RECENT_KEPT = 200

const refusals = {
  repeated: 'already recorded: nothing changed',
  closed: 'not recorded: the lead is closed',
  mortgage_ready: 'not recorded: the borrower is mortgage ready, so there are no more score updates',
  no_sandbox: 'not recorded: milestones are simulated in a sandbox only',
  full: 'not recorded: a lead of a sandbox has no more events than this',
}

/**
 * Applies the lead's state after a recording. A score update and milestones are recorded at the same time, so the answer may
 * be older than what another one has told already: what a record has once, it keeps.
 *
 * @param asked the highest sequence when the recording was asked for.
 */
export function applyRecording(
  journey: Journey,
  recording: Recording,
  items: readonly MilestoneItem[],
  asked: number,
): void {
  const { state } = journey
  for (const [index, outcome] of recording.outcomes.entries()) {
    const item = items[index]
    if (item === undefined) continue
    applyOutcome(journey, item, outcome)
    if (outcome.eventId !== undefined) keep(journey, { at: recording.lastEventAt, ...item })
  }
  state.anchor = recording.anchor ?? state.anchor
  state.endsAt = recording.endsAt ?? state.endsAt
  // in a sandbox, a recording from before the clock was moved may answer after it
  state.offset = state.isSandbox ? Math.max(state.offset, recording.offset) : recording.offset
  applyLast(journey, recording.last, asked)
  state.lastEventAt = recording.lastEventAt
  if (!state.seen.includes(recording.status)) state.seen.push(recording.status)
  if (recording.closed) enter(journey, 'lead', 'closed')
  applySent(journey, recording)
}

/** A record that has less than when the workflow asked went back: it is read again. */
export function applyLast(journey: Journey, last: number, asked: number): void {
  const { state } = journey
  state.last = Math.max(state.last, last)
  if (last < asked) journey.recordChanged = true
}

/** The timer's score updates come again by themselves. */
function keep(journey: Journey, item: MilestoneItem): void {
  const { recent } = journey
  if (isTimed(item) || recent.some(({ dedupeKey }) => dedupeKey === item.dedupeKey)) return
  journey.recent = [...recent, item].slice(-RECENT_KEPT)
}

/** Applies the end of a first attempt. */
export function applySent(journey: Journey, { delivered, failure }: Sent): void {
  if (delivered !== undefined) settleBefore(journey, delivered + 1)
  if (failure?.sequence === journey.state.next) journey.state.failure = failure
}

/** Set if no webhook is open: then the next can be sent with its recording, because it overtakes none. */
export function settledUpTo({ state }: Journey): SettledUpTo | undefined {
  const { partnerId, next, last } = state
  return next > last ? { partnerId, after: last } : undefined
}

/** Makes `next` the first open webhook, and forgets the ones before it: they are in the record. */
export function settleBefore(journey: Journey, next: number): void {
  const { state, names } = journey
  state.next = Math.max(state.next, next)
  for (const sequence of Object.keys(names)) if (Number(sequence) < state.next) delete names[Number(sequence)]
  if (state.failure !== null && state.failure.sequence < state.next) state.failure = null
}

/** Counts a milestone's outcome, notes it if nothing changed, and answers a waiting sender. */
export function applyOutcome(journey: Journey, item: MilestoneItem, result: RecordedItem): void {
  const { state, counts } = journey
  const { outcome, sequence } = result
  if (outcome === 'recorded') state.lastEvent = item.name
  if (outcome !== 'recorded') note(journey, item.name, refusals[outcome])
  else if (!state.seen.includes(item.name)) state.seen.push(item.name)
  if (sequence !== undefined && Object.keys(journey.names).length < NAMES_KEPT) {
    journey.names[sequence] = item.name
  }
  if (!isTimed(item)) counts[outcome === 'recorded' || outcome === 'repeated' ? outcome : 'refused'] += 1
  if (journey.awaited.has(item)) journey.awaited.set(item, result)
}

/** What a waiting sender is told; nobody waits for the item any more. */
export function takeAnswer({ awaited }: Journey, item: MilestoneItem): MilestoneAnswer {
  const result = awaited.get(item)
  awaited.delete(item)
  return { outcome: result?.outcome ?? 'accepted', event_id: result?.eventId ?? null }
}
