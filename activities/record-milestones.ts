import { ApplicationFailure } from '@temporalio/activity'
import type { WebhookBody } from '../src/db/new-lead.ts'
import type { Sql } from '../src/db/orm.ts'
import { recordMilestones } from '../src/db/recording.ts'
import type { MilestoneItem, Recording } from '../src/domain/referral.ts'

interface Dependencies {
  sql: Sql
  webhookBody: WebhookBody
}

export function recordMilestonesActivity({ sql, webhookBody }: Dependencies) {
  return async (leadId: number, items: MilestoneItem[]): Promise<Recording> =>
    (await recordMilestones(sql, leadId, items, webhookBody)) ?? refuseUnknown(leadId)
}

/** A workflow without its lead: somebody started it by hand, or the database is another one. */
export function refuseUnknown(leadId: number): never {
  throw ApplicationFailure.create({ message: `lead ${leadId} is not in the record`, type: 'UnknownLead' })
}
