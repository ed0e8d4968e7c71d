import {
  isTimed,
  type KnownRecord,
  type MilestoneItem,
  type RecordedItem,
  type Recording,
  type Sent,
  type SettledUpTo,
} from '../src/core/leads/decisions/referral.ts'
import { type Journey, note } from './journey.ts'
import type { MilestoneAnswer } from './messages.ts'
import { enter } from './phases.ts'

/** Bounds memory while an endpoint is paused for months. */
const NAMES_KEPT = 100

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
 * @param known what of the record was known when the recording was asked for.
 * @returns false if nothing was recorded: the record is not the one that this workflow knows, or knew when it asked.
 */
export function applyRecording(
  journey: Journey,
  recording: Recording | null,
  items: readonly MilestoneItem[],
  known: KnownRecord,
): boolean {
  const { state } = journey
  if (!isOfKnownRecord(journey, known, recording)) return false
  // asked for before the workflow took the record over, and answered after it
  if (recording.outcomes.length < items.length) return false
  for (const [index, outcome] of recording.outcomes.entries()) {
    const item = items[index]
    if (item !== undefined) applyOutcome(journey, item, outcome)
  }
  state.anchor = recording.anchor ?? state.anchor
  state.endsAt = recording.endsAt ?? state.endsAt
  // in a sandbox, a recording from before the clock was moved may answer after it
  state.offset = state.isSandbox ? Math.max(state.offset, recording.offset) : recording.offset
  state.last = Math.max(state.last, recording.last)
  state.lastEventAt = recording.lastEventAt
  if (!state.seen.includes(recording.status)) state.seen.push(recording.status)
  if (recording.closed) enter(journey, 'lead', 'closed')
  applySent(journey, recording)
  return true
}

/**
 * Whether an answer comes from the record that the workflow knows. If not, the record went back, and the workflow takes it
 * over: staff declared it, or it has less than it had when the workflow asked. Meanwhile another answer may have had more,
 * or the workflow may have taken over a record that has less.
 */
export function isOfKnownRecord<Answer extends KnownRecord>(
  journey: Journey,
  asked: KnownRecord,
  answer: Answer | null,
): answer is Answer {
  const { generation, last } = journey.state
  if (answer !== null && answer.generation === generation && answer.last >= Math.min(asked.last, last))
    return true
  enter(journey, 'record', 'restored')
  return false
}

/** What of the record a workflow knows now. */
export const knownRecord = ({ state: { generation, last } }: Journey): KnownRecord => ({ generation, last })

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
