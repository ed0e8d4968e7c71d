import { closeLead, isClosedByService } from '../src/leads/closing.ts'
import type { Sql } from '../src/database/sql.ts'
import { loadReferralState } from '../src/leads/load-referral.ts'
import { closeReasonOf } from '../src/leads/reasons.ts'
import type { ReadRecord } from '../src/leads/referral-state.ts'
import { otherLead } from './activity-context.ts'

interface Dependencies {
  sql: Sql
  /** Who asked Temporal to close a lead, as their client called itself; `null` if that is not known. */
  closeRequestedBy: (leadId: number) => Promise<string | null>
}

/** What a lead's workflow does with the lead itself. */
export function leadActivities({ sql, closeRequestedBy }: Dependencies) {
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

    /**
     * Closes a lead. A request that was made in Temporal itself, in its Web UI for example, gets its row in the audit here.
     *
     * @returns by how many milliseconds the lead's clock is ahead.
     */
    async closeLead(leadId: number, name: string, byScenario: boolean): Promise<number> {
      const reason = closeReasonOf(name)
      if (byScenario) return closeLead(sql, leadId, reason, { actor: 'scenario' })
      if (await isClosedByService(sql, leadId, reason)) return closeLead(sql, leadId, reason)
      const detail = { through: 'temporal', identity: await closeRequestedBy(leadId) }
      return closeLead(sql, leadId, reason, { actor: 'temporal', detail })
    },
  }
}
