import { insertLead as insert, leadIds, type NewLead } from '../../src/leads/new-lead.ts'
import type { Sql } from '../../src/database/sql.ts'
import type { WebhookBody } from '../../src/webhooks/body.ts'
import { testKeys } from './test-keys.ts'

/** Inserts a lead as create-lead does; in the caller's transaction if there is one. Returns its id. */
export async function insertLead(
  sql: Sql,
  partnerId: number,
  lead: NewLead,
  toBody: WebhookBody,
  encryptionKeys: readonly Buffer[] = testKeys,
): Promise<number> {
  const reserved = await leadIds(sql)()
  await insert({ sql, encryptionKeys }, reserved, partnerId, lead, toBody)
  return reserved.leadId
}
