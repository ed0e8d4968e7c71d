import { ApplicationFailure } from '@temporalio/activity'
import type { Environment } from '../../src/core/values/environment.ts'

/** Activities that refuse outside a sandbox: people can start any workflow, with any input, in the Temporal Web UI. */
export function inSandbox<Activities extends object>(
  { environment }: { environment: Environment },
  activities: Activities,
): Activities {
  if (environment === 'sandbox') return activities
  const refuse = async () => {
    throw ApplicationFailure.nonRetryable('possible in a sandbox only', 'NoSandbox')
  }
  return Object.fromEntries(Object.keys(activities).map((name) => [name, refuse])) as Activities
}
