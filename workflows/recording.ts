import {
  isTimed,
  type MilestoneItem,
  type RecordedItem,
  type Recording,
  type SettledUpTo,
} from '../src/leads/referral-state.ts'
import { recordMilestones } from './activities.ts'
import { settleBefore } from './deliveries.ts'
import { isWindingDown, type Journey, note } from './journey.ts'

const BATCH = 64
/** Bounds a run's input. */
const RECENT_KEPT = 200

export function hasNews(journey: Journey): boolean {
  return journey.inbox.length > 0 && !isWindingDown(journey)
}

/** Records what arrived, in the order in which it arrived, as many at once as there are. */
export async function recordInbox(journey: Journey): Promise<void> {
  journey.phases.inbox = 'recording'
  try {
    const items = journey.inbox.slice(0, BATCH)
    const summary = `record ${namesOf(items)}`
    const args = [journey.state.leadId, items, settledUpTo(journey)] as const
    applyRecording(journey, await recordMilestones.executeWithOptions({ summary }, [...args]), items)
    journey.inbox.splice(0, items.length)
  } finally {
    journey.phases.inbox = 'idle'
  }
}

/** `contract_signed, client_engaged_in_chat × 3`: the server keeps 200 bytes of a summary. */
function namesOf(items: readonly MilestoneItem[]): string {
  const counts = new Map<string, number>()
  for (const { name } of items) counts.set(name, (counts.get(name) ?? 0) + 1)
  const names = [...counts].map(([name, count]) => (count === 1 ? name : `${name} × ${count}`))
  return names.join(', ').slice(0, 180)
}

/** Set if no webhook is open: then the next can be sent with its recording, because it overtakes none. */
export function settledUpTo({ state }: Journey): SettledUpTo | undefined {
  const { partnerId, next, last } = state
  return next > last ? { partnerId, after: last } : undefined
}

/**
 * Applies the lead's state after a recording. Recordings run concurrently, so this result may be stale. Values only move
 * forward.
 */
export function applyRecording(
  journey: Journey,
  recording: Recording,
  items: readonly MilestoneItem[],
): void {
  const { state } = journey
  for (const [index, item] of items.entries()) {
    const result = recording.outcomes[index]
    if (result === undefined) continue
    applyOutcome(journey, item, result)
    if (result.eventId !== undefined) keep(journey, { at: recording.lastEventAt, ...item })
  }
  state.anchor = recording.anchor ?? state.anchor
  state.endsAt = recording.endsAt ?? state.endsAt
  // in a sandbox, a recording from before the clock was moved may answer after it
  state.offset = state.isSandbox ? Math.max(state.offset, recording.offset) : recording.offset
  state.last = Math.max(state.last, recording.last)
  state.lastEventAt = Math.max(state.lastEventAt, recording.lastEventAt)
  if (!state.seen.includes(recording.status)) state.seen.push(recording.status)
  if (recording.closed) journey.phases.lead = 'closed'
  if (recording.delivered !== undefined) settleBefore(journey, recording.delivered + 1)
}

const refusals = {
  repeated: 'already recorded: nothing changed',
  closed: 'not recorded: the lead is closed',
  mortgage_ready: 'not recorded: the borrower is mortgage ready, so there are no more score updates',
  full: 'not recorded: the lead has as many events as one in a sandbox can have',
}

/** Counts a milestone's outcome, notes it if nothing changed, and answers a waiting sender. */
export function applyOutcome(journey: Journey, item: MilestoneItem, result: RecordedItem): void {
  const { state, counts } = journey
  const { outcome } = result
  if (outcome === 'recorded') {
    state.lastEvent = item.name
    if (!state.seen.includes(item.name)) state.seen.push(item.name)
  } else note(journey, item.name, refusals[outcome])
  if (!isTimed(item)) counts[outcome === 'recorded' || outcome === 'repeated' ? outcome : 'refused'] += 1
  if (journey.awaited.has(item)) journey.awaited.set(item, result)
}

/** Remembers what was recorded, except the timer's score updates, which come again by themselves. */
function keep(journey: Journey, item: MilestoneItem): void {
  const { recent } = journey
  if (isTimed(item) || recent.some(({ dedupeKey }) => dedupeKey === item.dedupeKey)) return
  journey.recent = [...recent, item].slice(-RECENT_KEPT)
}
