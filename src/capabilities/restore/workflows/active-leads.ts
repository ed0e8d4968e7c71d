import type { Client } from '@temporalio/client'
import { dayOf } from '../../../core/leads/decisions/search-attributes.ts'
import { listWorkflows } from '../../../core/temporal/list-workflows.ts'
import { leadOf } from '../../../core/temporal/names.ts'
import { attributeKeys } from '../../../core/temporal/search-attributes.ts'

export interface ActiveLead {
  leadId: number
  partnerId: number | undefined
}

/**
 * Leads whose workflows may know something that was recorded after `since`: the day of their latest event says so, and
 * those that have ended after it. All that Temporal has if that is not known.
 */
export async function* leadsActiveSince(client: Client, since: Date | undefined): AsyncGenerator<ActiveLead> {
  const isRecent =
    since &&
    `(LastEventAt >= '${dayOf(since.getTime()).toISOString()}' OR CloseTime >= '${since.toISOString()}')`
  const query = ["WorkflowType = 'referral'", ...(isRecent ? [isRecent] : [])].join(' AND ')
  for await (const { workflowId, typedSearchAttributes } of listWorkflows(client, query)) {
    const leadId = leadOf(workflowId)
    if (leadId !== undefined) yield { leadId, partnerId: typedSearchAttributes.get(attributeKeys.PartnerId) }
  }
}
