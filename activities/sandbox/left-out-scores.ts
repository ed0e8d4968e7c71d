import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common'
import { leavesOutScore } from '../../src/capabilities/sandbox/faults/statements/left-out-scores.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import { periodOf } from '../../src/core/leads/decisions/referral.ts'
import type { Environment } from '../../src/core/values/environment.ts'
import type { ScoreProvider } from '../record-score-update.ts'

interface Dependencies {
  sql: Sql
  environment: Environment
  scoreProvider: ScoreProvider
}

/**
 * In a sandbox, the score provider has no scores for the updates that a fault leaves out. A provider that fails is asked
 * until the next update is due; here the lead's workflow learns at once that none will come.
 */
export function leavingOutScores({
  sql,
  environment,
  scoreProvider,
}: Dependencies): Partial<Pick<Dependencies, 'scoreProvider'>> {
  if (environment !== 'sandbox') return {}
  return {
    scoreProvider: async (asked) => {
      const { leadId, period } = asked
      // those that were signalled are no update that is due
      const isDue = periodOf(asked) !== null
      if (isDue && (await leavesOutScore(sql, leadId, period))) throw noScores()
      return scoreProvider(asked)
    },
  }
}

/** Asked for, so no error in logs and metrics. */
const noScores = () =>
  ApplicationFailure.create({
    message: 'an injected fault: the score provider has no scores for this update',
    type: 'NoScores',
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
  })
