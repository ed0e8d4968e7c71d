import { allHandlersFinished, workflowInfo } from '@temporalio/workflow'
import type { MilestoneItem } from '../src/domain/referral.ts'
import type { Journey } from './journey.ts'

/** The server refuses a run's 10,001st signal, and does not count them in what it suggests. */
const MESSAGES_PER_RUN = 2000
/** A run may be started with 2 MB: this leaves room for the score updates that wait for their gains. */
const INBOX_BYTES = 1_200_000
/** An item's name, gains and punctuation, at most. */
const ITEM_BYTES = 300

/**
 * Whether this run begins nothing new, so that the next can begin. Signals need not ebb for it: what is not recorded
 * yet is handed on, and once a run has tried to end, the server lets no signal in until it has.
 */
export function isMakingWay({ messages, inbox, awaited }: Journey): boolean {
  if (messages < MESSAGES_PER_RUN && !workflowInfo().continueAsNewSuggested) return false
  // not allHandlersFinished(): among signals that keep coming, one has always just begun
  return awaited.size === 0 && bytesOf(inbox) <= INBOX_BYTES
}

/** Never too little: a character of a key may take two, escaped. */
function bytesOf(inbox: readonly MilestoneItem[]): number {
  return inbox.reduce((bytes, { dedupeKey }) => bytes + ITEM_BYTES + 2 * dedupeKey.length, 0)
}

/** A run's history is bounded. Nothing is cancelled or lost: waits begin anew, the record knows the rest. */
export function isTimeToContinue(journey: Journey): boolean {
  return isMakingWay(journey) && !journey.recording && allHandlersFinished()
}
