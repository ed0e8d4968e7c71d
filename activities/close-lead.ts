import { closeLead, isClosedByService } from '../src/leads/closing.ts'
import type { Sql } from '../src/database/sql.ts'
import { closeReasonOf } from '../src/leads/reasons.ts'

interface Dependencies {
  sql: Sql
  /** Who asked Temporal to close a lead, as their client called itself; `null` if that is not known. */
  closeRequestedBy: (leadId: number) => Promise<string | null>
}

/**
 * Closes a lead, and answers by how many milliseconds its clock is ahead. A request that was made in Temporal itself, in
 * its Web UI for example, gets its row in the audit here.
 */
export function closeLeadActivity({ sql, closeRequestedBy }: Dependencies) {
  return async (leadId: number, name: string, byScenario: boolean): Promise<number> => {
    const reason = closeReasonOf(name)
    if (byScenario) return closeLead(sql, leadId, reason, { actor: 'scenario' })
    if (await isClosedByService(sql, leadId, reason)) return closeLead(sql, leadId, reason)
    const identity = await closeRequestedBy(leadId)
    return closeLead(sql, leadId, reason, { actor: 'temporal', detail: { through: 'temporal', identity } })
  }
}
