import { closeLead, isClosedByService } from '../src/core/leads/statements/closing.ts'
import type { Sql } from '../src/core/database/orm.ts'
import { closeReasonOf } from '../src/core/leads/decisions/reasons.ts'
import type { Closed } from '../src/core/leads/decisions/referral.ts'
import type { WebhookBody } from '../src/core/leads/statements/new-lead.ts'

interface Dependencies {
  sql: Sql
  webhookBody: WebhookBody
  /** Who asked Temporal to close a lead, as their client called itself; `null` if that is not known. */
  closeRequestedBy: (leadId: number) => Promise<string | null>
}

/**
 * Closes a lead, and answers where it stands. A request that was made in Temporal itself, in
 * its Web UI for example, gets its row in the audit here.
 */
export function closeLeadActivity({ sql, webhookBody, closeRequestedBy }: Dependencies) {
  return async (leadId: number, name: string): Promise<Closed> => {
    const reason = closeReasonOf(name)
    if (await isClosedByService(sql, leadId, reason)) return closeLead(sql, leadId, reason, webhookBody)
    return closeLead(sql, leadId, reason, webhookBody, { identity: await closeRequestedBy(leadId) })
  }
}
