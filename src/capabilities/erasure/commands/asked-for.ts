import { auditName } from '../../../core/audit/decisions/audit-name.ts'
import type { AskedFor } from '../../../core/partners/commands/key.ts'
import { leadsToEraseFor } from '../statements/requests.ts'

/** Erasures that a key asked for, which are carried out although it is revoked. */
export const erasuresAskedFor: AskedFor = async (sql, key) => {
  const leads = await leadsToEraseFor(sql, auditName(key))
  const line = `It asked to erase leads ${leads.join(', ')}. To cancel that: npm run staff -- erasure cancel --key ${key}`
  return { json: { open_erasure_lead_ids: leads }, lines: leads.length === 0 ? [] : [line] }
}
