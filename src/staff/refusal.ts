import { OtherEnvironment } from '../db/deployment.ts'
import { OtherDeployment } from '../temporal/namespace-claim.ts'
import { isDatabaseAway, isLockTimeout } from '../db/database-away.ts'
import { isTemporalAway } from '../temporal/temporal-away.ts'

/** What cannot be done, in one line that says what to do instead. */
export class Refusal extends Error {}

/** Any failure as one line for whoever typed the command: never a stack. */
export function describeFailure(error: unknown, temporalAddress: string): string {
  if (isRefusal(error)) return error.message
  if (isTemporalAway(error)) {
    return `Temporal does not answer at ${temporalAddress}: start it, or correct TEMPORAL_ADDRESS, and try again. What it was asked for may have been done: look first.`
  }
  if (isLockTimeout(error)) return 'Somebody else is changing the same thing: try again in a few seconds.'
  if (isDatabaseAway(error))
    return `PostgreSQL does not answer: start it, or correct DATABASE_URL (${lineOf(error)})`
  return `It could not be done: ${lineOf(error)}`
}

/**
 * What the audit says of a command that ended with this error. A server that does not answer may have done what it was
 * asked for, so that is `unknown`.
 */
export function outcomeOf(error: unknown): { outcome: 'failed' | 'unknown'; failure: string } {
  if (isRefusal(error)) return { outcome: 'failed', failure: 'refused' }
  if (isTemporalAway(error)) return { outcome: 'unknown', failure: 'temporal_away' }
  if (isLockTimeout(error)) return { outcome: 'failed', failure: 'locked' }
  if (isDatabaseAway(error)) return { outcome: 'unknown', failure: 'database_away' }
  return { outcome: 'failed', failure: 'error' }
}

function isRefusal(error: unknown): error is Error {
  return [Refusal, OtherEnvironment, OtherDeployment].some((kind) => error instanceof kind)
}

function lineOf(error: unknown): string {
  const message = error instanceof Error ? error.message || error.name : String(error)
  return message.split('\n')[0] ?? ''
}
