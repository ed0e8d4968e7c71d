import type { Sql } from '../../database/sql.ts'
import { leadRequest } from './lead-request.ts'
import { openBorrower } from './sealed-lead.ts'

/**
 * The recipient of the onboarding email; `undefined` if it was sent or must not be sent.
 *
 * @throws {SealError}
 */
export async function onboardingRecipient(sql: Sql, leadId: number, encryptionKeys: readonly Buffer[]) {
  const found = await sql
    .selectFrom('leads')
    .innerJoin('partners', 'partners.id', 'leads.partner_id')
    .select(['personal', 'partner_id', 'partners.name as partner_name'])
    .select(leadRequest.as('request_id'))
    .where('leads.id', '=', leadId)
    .where('leads.onboarding_sent_at', 'is', null)
    .where('leads.erased_at', 'is', null)
    .where('leads.closed_at', 'is', null)
    .where('personal', 'is not', null)
    .$narrowType<{ personal: string }>()
    .executeTakeFirst()
  if (found === undefined) return undefined
  const { personal, ...partner } = found
  const { first_name, email } = openBorrower(leadId, personal, encryptionKeys)
  return { first_name, email, ...partner }
}
