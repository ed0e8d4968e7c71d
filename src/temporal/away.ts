import { isGrpcCancelledError, isGrpcDeadlineError, isGrpcServiceError } from '@temporalio/client'
import type { TemporalSettings } from '../config.ts'
import { reasonOf } from '../fail.ts'

/** Canceled, deadline exceeded, unavailable. */
const CODES = [1, 4, 14]

/** Whether an error says that Temporal cannot be reached now, rather than what it answered. */
export function isTemporalAway(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isGrpcServiceError(cause)) return CODES.includes(cause.code)
  }
  return false
}

/**
 * Whether a client's call was not answered by its deadline. The server has the same deadline: if its clock is slightly ahead,
 * it cancels the call, and the client sees a cancelation that nobody here asked for.
 */
export function isTimeUp(error: unknown): boolean {
  return isGrpcDeadlineError(error) || isGrpcCancelledError(error)
}

/** What to do about a Temporal that does not answer, in one line: the same in each program that meets it. */
export function unreachable(
  { connectionOptions: { address, tls } }: TemporalSettings,
  error: unknown,
): string {
  const how = tls
    ? 'TLS, as TEMPORAL_TLS, an API key or a certificate asks for'
    : 'plain text, without TEMPORAL_TLS'
  return `Temporal does not answer at ${address}: start it, or correct TEMPORAL_ADDRESS; the connection uses ${how} (${reasonOf(error)})`
}
