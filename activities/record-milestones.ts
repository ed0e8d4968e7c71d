import type { DeliveryGate } from '../src/core/deliveries/statements/gate.ts'
import type { WebhookBody } from '../src/core/leads/statements/new-lead.ts'
import type { Sql } from '../src/core/database/orm.ts'
import { type Opening, recordMilestones } from '../src/core/leads/statements/recording.ts'
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
  gate: DeliveryGate
  encryptionKeys: readonly Buffer[]
  webhookBody: WebhookBody
  /** Gains are made up in a sandbox only. */
  environment: Environment
  firstAttempts: FirstAttempts
  observe: Pick<WorkerObserver, 'recorded'>
}

/**
 * Records milestones, and makes the first attempt at the next webhook when it is told that all before it are `settled`.
 * In another record than the `known` one, it records nothing.
 *
 * @returns `null` when the lead is not in the record.
 */
export function recordMilestonesActivity(dependencies: RecordingDependencies) {
  const { sql, gate, encryptionKeys, webhookBody, environment, firstAttempts, observe } = dependencies
  const isSandbox = environment === 'sandbox'
  return async (
    leadId: number,
    items: MilestoneItem[],
    settled?: SettledUpTo,
    known?: KnownRecord,
  ): Promise<Recording | null> => {
    const record = (opening?: Opening) =>
      recordMilestones(sql, leadId, items, webhookBody, { opening, isSandbox, known })
    const recordAndSend = async ({ partnerId, after }: SettledUpTo) => {
      const recorded = await gate.record(partnerId, () => record({ after, encryptionKeys }), record)
      if (recorded?.started === undefined) return recorded
      return { recording: { ...recorded.recording, ...(await firstAttempts.make(recorded.started)) } }
    }
    const recorded = await (settled ? gate.firstAttempt(() => recordAndSend(settled), record) : record())
    if (recorded === undefined) return null
    const { recording } = recorded
    for (const [index, { name }] of items.entries())
      if (recording.outcomes[index]?.outcome === 'recorded') observe.recorded(name)
    return recording
  }
}
