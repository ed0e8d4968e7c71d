import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common'
import type { ActivityInterceptorsFactory } from '@temporalio/worker'

/** Counts activities that fail, by their type: one that only has to wait says so, and does not count. */
export function countedFailures(count: (activity: string) => void): ActivityInterceptorsFactory {
  return ({ info: { activityType } }) => ({
    inbound: {
      execute: async (input, next) =>
        next(input).catch((error: unknown) => {
          if (!isExpected(error)) count(activityType)
          throw error
        }),
    },
  })
}

function isExpected(error: unknown): boolean {
  if (error instanceof CancelledFailure) return true
  return error instanceof ApplicationFailure && error.category === ApplicationFailureCategory.BENIGN
}
