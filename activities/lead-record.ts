import { recordClosing } from '../src/leads/close-lead.ts'
import type { Sql } from '../src/database/sql.ts'
import { loadReferralState } from '../src/leads/referrals.ts'
import { closeReasonOf } from '../src/leads/reasons.ts'
import type { ReadRecord } from '../src/leads/referral-state.ts'
import { otherLead } from './activity-context.ts'

/** What a lead's workflow does with the lead itself. */
export function leadActivities({ sql }: { sql: Sql }) {
  return {
    /** Reads where a lead stands, and which of the keys of its milestones are not recorded. Then its workflow may go on. */
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
