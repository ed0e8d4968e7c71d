import { ApplicationFailure, defaultPayloadConverter } from '@temporalio/common'
import type { ActivityInterceptorsFactory } from '@temporalio/worker'
import { sql as raw } from 'kysely'
import { compiledOnce, type Sql } from '../src/database/sql.ts'
import { recordClosing } from '../src/leads/close-lead.ts'
import { closeReasonOf } from '../src/leads/reasons.ts'
import { FIRST_EVENT, type ReadRecord, UNREAD } from '../src/leads/referral-state.ts'
import { loadReferralState } from '../src/leads/referrals.ts'
import { leadOf } from '../src/temporal/names.ts'
import { otherLead } from './activity-context.ts'

/** The activities that read and close the lead itself. */
export function leadActivities({ sql }: { sql: Sql }) {
  return {
    /** Reads where a lead stands, and which of its milestones' keys are not recorded. Its workflow may then go on. */
    async readRecord(leadId: number, dedupeKeys: string[]): Promise<ReadRecord> {
      await sql
        .updateTable('leads')
        .set({ restored_at: null })
        .where('id', '=', leadId)
        .where('restored_at', 'is not', null)
        .execute()
      const state = await loadReferralState(sql, leadId)
      if (state === undefined) throw otherLead()
      const rows = await sql
        .selectFrom('lead_events')
        .select('dedupe_key')
        .where('lead_id', '=', leadId)
        .where((eb) => eb('dedupe_key', '=', eb.fn.any(eb.val(dedupeKeys))))
        .execute()
      const there = new Set(rows.map(({ dedupe_key: key }) => key))
      return { state, lost: dedupeKeys.filter((key) => !there.has(key)) }
    },

    /** @returns by how many milliseconds the lead's clock is ahead. */
    async closeLead(leadId: number, reason: string, byScenario: boolean): Promise<number> {
      return recordClosing(sql, leadId, closeReasonOf(reason), byScenario ? 'scenario' : 'temporal')
    },
  }
}

/**
 * Refuses an activity of a lead's workflow if the lead is not the one that the workflow was started for: after PostgreSQL lost
 * a lead, another borrower's may have its id. Refuses it, too, until the workflow has read a restored record.
 */
export function ownLeadOnly(sql: Sql): ActivityInterceptorsFactory {
  return ({ info: { activityType, workflowExecution } }) => ({
    inbound: {
      async execute(input, next) {
        const { [FIRST_EVENT]: header } = input.headers
        const leadId = leadOf(workflowExecution?.workflowId ?? '')
        if (header !== undefined && leadId !== undefined) {
          const firstEventId: string = defaultPayloadConverter.fromPayload(header)
          const [lead] = await selectOwn(sql, { leadId, firstEventId })
          if (lead === undefined) throw otherLead()
          if (lead.isUnread && activityType !== 'readRecord')
            throw ApplicationFailure.nonRetryable('the record was restored, and must be read first', UNREAD)
        }
        return next(input)
      },
    },
  })
}

const selectOwn = compiledOnce<{ leadId: number; firstEventId: string }>()((sql, value) =>
  sql
    .selectFrom('lead_events')
    .innerJoin('leads', 'leads.id', 'lead_events.lead_id')
    .select(raw<boolean>`restored_at is not null`.as('isUnread'))
    .where('lead_events.id', '=', value('firstEventId'))
    .where('leads.id', '=', value('leadId')),
)
