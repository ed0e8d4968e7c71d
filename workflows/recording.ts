import { allHandlersFinished, workflowInfo } from '@temporalio/workflow'
import { milestones } from '../src/leads/milestones.ts'
import type { MilestoneItem } from '../src/leads/referral-state.ts'
import { recordMilestones } from './activities.ts'
import { hasUnrecorded, type Journey } from './journey.ts'
import { enter } from './phases.ts'
import { dueAt, isCadenceOn } from './score-updates.ts'
import { applyOutcome, applyRecording, settledUpTo } from './standing.ts'

/** A history of about 14 kB: a dozen milestones. */
const IDLE_EVENTS = 128
const SOON_MS = 60_000
/** Temporal keeps a run waiting that follows another one within a second. */
const SHORTEST_RUN_MS = 2000
/** The server rejects a run's 10,001st signal, and `continueAsNewSuggested` doesn't take them into account. */
const MESSAGES_PER_RUN = 2000
/** A run's input may have 2 MB: this leaves room for the score updates that wait for their gains. */
const INBOX_BYTES = 1_200_000
/** An item's name, gains, request and punctuation, at most. */
const ITEM_BYTES = 360

/**
 * Whether this run begins nothing new, so that the next run can start. This works while signals keep arriving: the inbox
 * is handed on, and once a run has tried to end, the server accepts no signal until it has.
 */
function isMakingWay({ messages, inbox, awaited, recordChanged, unread }: Journey): boolean {
  const isLong = messages >= MESSAGES_PER_RUN || workflowInfo().continueAsNewSuggested
  if (!isLong && !recordChanged) return false
  // not allHandlersFinished(): among signals that keep coming, one has always just begun
  return (unread || awaited.size === 0) && bytesOf(inbox) <= INBOX_BYTES
}

/** An upper bound: an escaped character of a key takes two bytes. */
function bytesOf(inbox: readonly MilestoneItem[]): number {
  return inbox.reduce((bytes, { dedupeKey }) => bytes + ITEM_BYTES + 2 * dedupeKey.length, 0)
}

/** Bounds a run's history, or has the record read. Nothing is lost: waits start again, and the rest is in the record. */
export function isTimeToContinue(journey: Journey): boolean {
  if (journey.phases.inbox !== 'idle' || !allHandlersFinished()) return false
  return isMakingWay(journey) || (isWorthwhile(journey) && isIdle(journey))
}

/**
 * Temporal keeps the history of an open lead for months, and that of a run that has ended for the namespace's retention only.
 * After a score update, hardly anything happens for 45 days.
 */
function isWorthwhile({ phases }: Journey): boolean {
  const { historyLength, runStartTime } = workflowInfo()
  if (Date.now() - runStartTime.getTime() < SHORTEST_RUN_MS) return false
  return phases.cadence === 'recorded' || historyLength >= IDLE_EVENTS
}

/** Whether nothing waits, nothing is under way and nothing is due soon, so that nobody waits for the next run. */
function isIdle(journey: Journey): boolean {
  const { state, phases, mailed, scenario } = journey
  if (phases.lead !== 'open' || phases.webhooks !== 'idle' || phases.cadence === 'asking') return false
  const isSettled = state.next > state.last && mailed && scenario === null
  return isSettled && !hasUnrecorded(journey) && nextDate(journey) - Date.now() > SOON_MS
}

/** When this workflow does something by itself, on our clock. */
function nextDate(journey: Journey): number {
  const { endsAt, offset } = journey.state
  if (endsAt !== null) return endsAt - offset
  return isCadenceOn(journey) ? dueAt(journey) : Infinity
}

const BATCH = 64

export function hasNews(journey: Journey): boolean {
  return journey.inbox.length > 0 && !isMakingWay(journey)
}

/** Records what arrived, in the order in which it arrived, as many at once as there are. */
export async function recordInbox(journey: Journey): Promise<void> {
  enter(journey, 'inbox', 'recording')
  try {
    const batch = journey.inbox.slice(0, BATCH)
    const items = batch.filter((item, index) => isNews(journey, item, batch.slice(0, index)))
    const { leadId, last } = journey.state
    const recording = await recordMilestones(leadId, items, settledUpTo(journey))
    applyRecording(journey, recording, items, last)
    journey.inbox.splice(0, batch.length)
    for (const item of batch) if (!items.includes(item)) applyOutcome(journey, item, { outcome: 'repeated' })
  } finally {
    enter(journey, 'inbox', 'idle')
  }
}

/**
 * A milestone that happens once is recorded once. PostgreSQL ensures that too; this saves it a flood of repeats, unless a
 * sender waits for the event's id.
 */
function isNews(journey: Journey, item: MilestoneItem, before: MilestoneItem[]): boolean {
  const { name } = item
  if (!milestones[name].once || journey.awaited.has(item)) return true
  return !journey.state.seen.includes(name) && before.every((other) => other.name !== name)
}
