import { ApplicationFailure } from '@temporalio/activity'
import type { WebhookBody } from '../src/db/leads/new-lead.ts'
import type { Sql } from '../src/db/orm.ts'
import { recordMilestones } from '../src/db/leads/recording.ts'
import type { WorkerObserver } from '../src/metrics/worker.ts'
import type { MilestoneItem, Recording } from '../src/domain/referral.ts'

export interface RecordingDependencies {
  sql: Sql
  webhookBody: WebhookBody
  observe: Pick<WorkerObserver, 'recorded'>
}

export function recordMilestonesActivity({ sql, webhookBody, observe }: RecordingDependencies) {
  return async (leadId: number, items: MilestoneItem[]): Promise<Recording> => {
    const recording = await recordMilestones(sql, leadId, items, webhookBody)
    if (recording === undefined) return refuseUnknown(leadId)
    for (const [index, { name }] of items.entries())
      if (recording.outcomes[index]?.outcome === 'recorded') observe.recorded(name)
    return recording
  }
}

/** A workflow without its lead: somebody started it by hand, or the database is another one. */
function refuseUnknown(leadId: number): never {
  throw ApplicationFailure.create({ message: `lead ${leadId} is not in the record`, type: 'UnknownLead' })
}
