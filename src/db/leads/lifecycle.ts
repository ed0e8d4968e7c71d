import { sql as raw } from 'kysely'
import type { Sql } from '../orm.ts'
import { leadsNow } from './leads-now.ts'
import { openBorrower } from './sealed-lead.ts'

/**
 * Closes a lead: no more milestones, no more score updates; open deliveries still go out.
 *
 * @returns by how many milliseconds its clock is ahead of ours.
 */
export async function closeLead(sql: Sql, leadId: number, reason: string): Promise<number> {
  await sql
    .updateTable('leads')
    .set({
      closed_at: raw<Date>`clock_timestamp()`,
      close_reason: reason,
      updated_at: leadsNow,
    })
    .where('id', '=', leadId)
    .where('closed_at', 'is', null)
    .execute()
  const lead = await sql
    .selectFrom('leads')
    .select('clock_offset')
    .where('id', '=', leadId)
    .executeTakeFirst()
  // a record that was restored may lack the lead
  return (lead?.clock_offset ?? 0) * 1000
}

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
