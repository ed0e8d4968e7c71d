import type { Sql } from '../src/database/sql.ts'
import type { ReadRecord } from '../src/leads/referral-state.ts'
import { loadReferralState } from '../src/leads/load-referral.ts'
import { otherLead } from './activity-context.ts'

/** Reads where a lead stands, and which of the keys of its milestones are not recorded. From then on, its workflow may go on. */
export function readRecordActivity({ sql }: { sql: Sql }) {
  return async (leadId: number, dedupeKeys: string[]): Promise<ReadRecord> => {
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
  }
}
