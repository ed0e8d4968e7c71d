import { allHandlersFinished, workflowInfo } from '@temporalio/workflow'
import type { MilestoneItem } from '../src/core/leads/decisions/referral.ts'
import type { Journey } from './journey.ts'

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
export function isMakingWay({ messages, inbox, awaited }: Journey): boolean {
  if (messages < MESSAGES_PER_RUN && !workflowInfo().continueAsNewSuggested) return false
  // not allHandlersFinished(): among signals that keep coming, one has always just begun
  return awaited.size === 0 && bytesOf(inbox) <= INBOX_BYTES
}

/** An upper bound: an escaped character of a key takes two bytes. */
function bytesOf(inbox: readonly MilestoneItem[]): number {
  return inbox.reduce((bytes, { dedupeKey }) => bytes + ITEM_BYTES + 2 * dedupeKey.length, 0)
}

/** Bounds a run's history. Nothing is lost: waits start again, and the rest is in the record. */
export function isTimeToContinue(journey: Journey): boolean {
  const { inbox, record } = journey.phases
  return isMakingWay(journey) && inbox === 'idle' && record === 'known' && allHandlersFinished()
}
