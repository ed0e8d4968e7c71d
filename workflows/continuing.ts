import { allHandlersFinished, workflowInfo } from '@temporalio/workflow'
import type { Journey } from './journey.ts'

/** The server refuses a run's 10,001st signal, and does not count them in what it suggests. */
const MESSAGES_PER_RUN = 2000
/** Handed to the next run: at most half a megabyte of the 2 MB that it may be started with. */
const INBOX_CARRIED = 1000

/**
 * Whether this run stops beginning new work, so that the next can begin. Without it a stream of signals that
 * never ebbs would keep the run busy beyond what the server allows.
 */
export function isMakingWay({ messages, inbox }: Journey): boolean {
  if (messages < MESSAGES_PER_RUN && !workflowInfo().continueAsNewSuggested) return false
  return inbox.length <= INBOX_CARRIED && allHandlersFinished()
}

/** A run's history is bounded. Nothing is cancelled or lost: waits begin anew, the record knows the rest. */
export function isTimeToContinue(journey: Journey): boolean {
  return isMakingWay(journey) && !journey.recording
}
