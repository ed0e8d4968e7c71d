import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common'

/**
 * "Not yet", as a failure that Temporal retries: after `afterMs` milliseconds, or as the activity's own retry policy has
 * it. The waiting is Temporal's, so a crash or a deployment loses none of it.
 */
export function again(message: string, afterMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: 'Again',
    ...(afterMs !== undefined && { nextRetryDelay: Math.max(1, Math.round(afterMs)) }),
    // expected, so no error in logs and metrics
    category: ApplicationFailureCategory.BENIGN,
  })
}
