import { isGrpcCancelledError, isGrpcDeadlineError } from '@temporalio/client'

/**
 * Whether a call of a client was not answered by its deadline. The server has the same deadline: where its clock is ahead by
 * a moment, it cancels the call, and the client is told that, although nobody here canceled anything.
 */
export function isTimeUp(error: unknown): boolean {
  return isGrpcDeadlineError(error) || isGrpcCancelledError(error)
}
