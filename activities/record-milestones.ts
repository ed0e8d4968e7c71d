import type { WebhookBody } from '../src/core/leads/statements/new-lead.ts'
import type { Sql } from '../src/core/database/orm.ts'
import { recordMilestones } from '../src/core/leads/statements/recording.ts'
import type { Environment } from '../src/core/values/environment.ts'
import type { WorkerObserver } from '../src/metrics/worker.ts'
import type {
  KnownRecord,
  MilestoneItem,
  Recording,
  SettledUpTo,
} from '../src/core/leads/decisions/referral.ts'
import type { FirstAttempts } from './first-attempts.ts'

export interface RecordingDependencies {
  sql: Sql
  webhookBody: WebhookBody
  /** Gains are made up in a sandbox only. */
  environment: Environment
  firstAttempts: FirstAttempts
  observe: Pick<WorkerObserver, 'recorded'>
}

/**
 * Records milestones, and sends the next webhook at once when it is told that all before it are `settled`: see
 * `createFirstAttempts`. In another record than the `known` one, it records nothing.
 *
 * @returns `null` when the lead is not in the record.
 */
export function recordMilestonesActivity(dependencies: RecordingDependencies) {
  const { sql, webhookBody, environment, firstAttempts, observe } = dependencies
  const isSandbox = environment === 'sandbox'
  return async (
    leadId: number,
    items: MilestoneItem[],
    settled?: SettledUpTo,
    known?: KnownRecord,
  ): Promise<Recording | null> => {
    const recording = await firstAttempts.record(settled, (opening) =>
      recordMilestones(sql, leadId, items, webhookBody, { opening, isSandbox, known }),
    )
    if (recording === undefined) return null
    for (const [index, { name }] of items.entries())
      if (recording.outcomes[index]?.outcome === 'recorded') observe.recorded(name)
    return recording
  }
}
