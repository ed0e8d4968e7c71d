import { allHandlersFinished, workflowInfo } from '@temporalio/workflow'
import type { MilestoneItem } from '../src/core/leads/decisions/referral.ts'
import { hasUnrecorded, type Journey } from './journey.ts'
import { dueAt, isCadenceOn } from './score-updates.ts'

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
export function isMakingWay({ messages, inbox, awaited, recordChanged, unread }: Journey): boolean {
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
