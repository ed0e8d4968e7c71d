import { isDatabaseAway, isLockTimeout } from '../core/database/database-away.ts'
import { OtherEnvironment } from '../core/record/statements/deployment.ts'
import { SealError } from '../core/sealing/seal.ts'
import { OtherDeployment } from '../core/temporal/namespace-claim.ts'
import { isFileFault } from '../core/values/file-fault.ts'
import { isTemporalAway } from '../core/temporal/temporal-away.ts'

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
