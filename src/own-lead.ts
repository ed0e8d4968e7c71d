import { ApplicationFailure, defaultPayloadConverter } from '@temporalio/common'
import type { ActivityInterceptorsFactory } from '@temporalio/worker'
import { sql as raw } from 'kysely'
import { otherLead } from '../activities/other-lead.ts'
import type { Sql } from './core/database/sql.ts'
import { FIRST_EVENT, UNREAD } from './core/leads/decisions/referral.ts'
import { leadOf } from './core/temporal/names.ts'

/**
 * Before each activity of a lead's workflow: whether the lead that has its id is the one that it was started for, as another
 * borrower's may have it after PostgreSQL lost a lead; and whether the workflow has read the record since that was restored.
 */
export function ownLeadOnly(sql: Sql): ActivityInterceptorsFactory {
  return ({ info: { activityType, workflowExecution } }) => ({
    inbound: {
      async execute(input, next) {
        const { [FIRST_EVENT]: header } = input.headers
        const leadId = leadOf(workflowExecution?.workflowId ?? '')
        if (header !== undefined && leadId !== undefined) {
          const lead = await findLead(sql, leadId, defaultPayloadConverter.fromPayload(header))
          if (lead === undefined) throw otherLead()
          if (lead.isUnread && activityType !== 'readRecord')
            throw ApplicationFailure.nonRetryable('the record was restored, and is to be read first', UNREAD)
        }
        return next(input)
      },
    },
  })
}

async function findLead(sql: Sql, leadId: number, firstEventId: string) {
  return sql
    .selectFrom('lead_events')
    .innerJoin('leads', 'leads.id', 'lead_events.lead_id')
    .select(raw<boolean>`restored_at is not null`.as('isUnread'))
    .where('lead_events.id', '=', firstEventId)
    .where('leads.id', '=', leadId)
    .executeTakeFirst()
}
