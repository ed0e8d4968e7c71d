import { WorkflowFailedError } from '@temporalio/client'
import { CancelledFailure, TerminatedFailure } from '@temporalio/common'

/** Whether the workflow whose result was awaited was terminated or canceled, rather than failing by itself. */
export function isEnded(error: unknown): boolean {
  if (!(error instanceof WorkflowFailedError)) return false
  return error.cause instanceof TerminatedFailure || error.cause instanceof CancelledFailure
}
