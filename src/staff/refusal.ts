import { OtherEnvironment } from '../database/deployment.ts'
import { isDatabaseAway, isDenied, isFileFault, isLockTimeout } from '../database/errors.ts'
import { SealError } from '../seal.ts'
import { isTemporalAway } from '../temporal/away.ts'
import { OtherDeployment } from '../temporal/namespace-guard.ts'

/** Something cannot be done; the message is one line that says what to do instead. */
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
  const failure = (reason: Failure['reason'], message: string): Failure => {
    const isAway = reason === 'temporal_away' || reason === 'database_away'
    return { message, reason, outcome: isAway ? 'unknown' : 'failed' }
  }
  if ([Refusal, OtherEnvironment, OtherDeployment, SealError].some((kind) => error instanceof kind))
    return failure('refused', line)
  if (error instanceof Error && isDenied(error))
    return failure(
      'refused',
      `PostgreSQL: ${line}. Your login needs the role referrals_staff: grant referrals_staff to it`,
    )
  if (isFileFault(error))
    return failure(
      'error',
      `A file cannot be used (${line}): let your user read and write it, or correct its name.`,
    )
  if (isTemporalAway(error))
    return failure(
      'temporal_away',
      `Temporal does not answer at ${temporalAddress}: start it, or a worker, or correct TEMPORAL_ADDRESS or TEMPORAL_TLS. The command may have taken effect: check before you try again.`,
    )
  if (isLockTimeout(error))
    return failure('locked', 'Someone else is changing the same record: try again in a few seconds.')
  if (isDatabaseAway(error))
    return failure('database_away', `PostgreSQL does not answer: start it, or correct DATABASE_URL (${line})`)
  return failure('error', `The command failed: ${line}`)
}
