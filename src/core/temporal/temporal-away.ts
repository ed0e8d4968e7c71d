import { isGrpcServiceError } from '@temporalio/client'

/** Canceled, deadline exceeded, unavailable. */
const CODES = [1, 4, 14]

/** Whether an error says that Temporal cannot be reached now, rather than what it answered. */
export function isTemporalAway(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isGrpcServiceError(cause)) return CODES.includes(cause.code)
  }
  return false
}
