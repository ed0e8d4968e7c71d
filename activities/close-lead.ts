import { closeLead } from '../src/db/leads/lifecycle.ts'
import type { Sql } from '../src/db/orm.ts'

export function closeLeadActivity({ sql }: { sql: Sql }) {
  return async (leadId: number, reason: string): Promise<void> => closeLead(sql, leadId, reason)
}
