import { isDatabaseAway, isDenied, isFileFault, isLockTimeout } from '../database/errors.ts'
import { databaseRemedy } from '../database/readiness.ts'
import { Refusal } from '../fail.ts'
import { isTemporalAway } from '../temporal/away.ts'

/** Why a command failed, and what to do: a line for the person who typed it, never a stack. */
export function failureLine(error: unknown, temporalAddress = ''): string {
  const line = (error instanceof Error ? error.message || error.name : String(error)).split('\n')[0] ?? ''
  if (error instanceof Refusal) return line
  if (isDenied(error))
    return `PostgreSQL: ${line}. Your login needs the role referrals_staff: grant referrals_staff to it`
  if (isFileFault(error))
    return `A file cannot be used (${line}): let your user read and write it, or correct its name.`
  if (isTemporalAway(error))
    return `Temporal does not answer at ${temporalAddress}: start it, or a worker, or correct TEMPORAL_ADDRESS or TEMPORAL_TLS; or the task of the workflow fails. The command may have taken effect: check before you try again.`
  if (isLockTimeout(error)) return 'Someone else is changing the same record: try again in a few seconds.'
  return isDatabaseAway(error) ? databaseRemedy(error) : `The command failed: ${line}`
}
