import type { Sql } from '../../../core/database/sql.ts'
import { openBorrower } from '../../../core/leads/statements/sealed-lead.ts'
import { type ScenarioName, scenarioOfEmail } from '../decisions/scenarios.ts'

/** The scenario that a lead's address names; `undefined` for none, or once the lead is erased. */
export async function scenarioOfLead(
  sql: Sql,
  leadId: number,
  encryptionKeys: readonly Buffer[],
): Promise<ScenarioName | undefined> {
  const lead = sql.selectFrom('leads').select('personal').where('id', '=', leadId)
  const sealed = (await lead.executeTakeFirst())?.personal
  return sealed ? scenarioOfEmail(openBorrower(leadId, sealed, encryptionKeys).email) : undefined
}
