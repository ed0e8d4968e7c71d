import { OtherEnvironment } from '../database/deployment.ts'
import { isDatabaseAway, isDenied, isFileFault, isLockTimeout } from '../database/errors.ts'
import { SealError } from '../seal.ts'
import { isTemporalAway } from '../temporal/away.ts'
import { OtherDeployment } from '../temporal/namespace-guard.ts'

/** What cannot be done, in one line that says what to do instead. */
export class Refusal extends Error {}

/** Why a command failed: a line for the person who typed it, never a stack, and the words of the audit. */
interface Failure {
  message: string
  reason: 'refused' | 'temporal_away' | 'locked' | 'database_away' | 'error'
  /** `unknown`: the server did not answer, and may have done it nevertheless. */
  outcome: 'failed' | 'unknown'
}

export function failureOf(error: unknown, temporalAddress = ''): Failure {
  const line = (error instanceof Error ? error.message || error.name : String(error)).split('\n')[0] ?? ''
  if ([Refusal, OtherEnvironment, OtherDeployment, SealError].some((kind) => error instanceof kind)) {
    return { message: line, reason: 'refused', outcome: 'failed' }
  }
  if (isFileFault(error)) {
    const message = `A file cannot be used (${line}): let your user read and write it, or correct the setting that names it, such as ERASURE_LOG.`
    return { message, reason: 'error', outcome: 'failed' }
  }
  if (isTemporalAway(error)) {
    const message = `Temporal does not answer at ${temporalAddress}: start it, or a worker, or correct TEMPORAL_ADDRESS. The command may have taken effect: check before you try again.`
    return { message, reason: 'temporal_away', outcome: 'unknown' }
  }
  if (isLockTimeout(error)) {
    const message = 'Someone else is changing the same record: try again in a few seconds.'
    return { message, reason: 'locked', outcome: 'failed' }
  }
  if (isDatabaseAway(error)) {
    const message = `PostgreSQL does not answer: start it, or correct DATABASE_URL (${line})`
    return { message, reason: 'database_away', outcome: 'unknown' }
  }
  return { message: `The command failed: ${line}`, reason: 'error', outcome: 'failed' }
}

/** The error, with the role that the login needs if PostgreSQL denied it something. */
export function explainDenial(error: unknown): unknown {
  if (!(error instanceof Error && isDenied(error))) return error
  return new Refusal(
    `PostgreSQL: ${error.message}. Your login needs the role referrals_staff: grant referrals_staff to it`,
  )
}
