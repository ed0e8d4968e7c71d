import { auditName } from '../../../core/audit/decisions/audit-name.ts'
import type { AskedFor } from '../../../core/partners/commands/key.ts'
import { leadsToCloseFor } from '../statements/requests.ts'

/** Closings that a key asked for, which are carried out although it is revoked. */
export const closingsAskedFor: AskedFor = async (sql, key) => {
  const leads = await leadsToCloseFor(sql, auditName(key))
  const line = `It asked to close leads ${leads.join(', ')}. To cancel that: npm run staff -- closing cancel --key ${key}`
  return { json: { open_closing_lead_ids: leads }, lines: leads.length === 0 ? [] : [line] }
}
