import { sql as raw } from 'kysely'
import { type Sql, takeLock } from '../database/sql.ts'
import { hashesOfEmail, leadRequest, openBorrower } from './lead.ts'

/** Onboarding mails to one address in 24 hours. */
const MOST_MAILS_OF_ADDRESS = 3

/** Whether a lead's onboarding mail may still be sent. */
const isWelcome = raw<boolean>`coalesce(onboarding, '') not in ('sent', 'address_limit')
  and erased_at is null and closed_at is null`

/**
 * Whether a process is sending it. After ten minutes, that process is gone: connecting to the mail server takes ten seconds
 * at most, and each of about eight replies a minute.
 */
const isBeingSent = raw<boolean>`(coalesce(onboarding, '') = 'sending'
  and onboarding_at > clock_timestamp() - interval '10 minutes')`

/**
 * The recipient of the onboarding mail; `undefined` if it was sent or must not be sent.
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
    .where(isWelcome)
    .where('personal', 'is not', null)
    .$narrowType<{ personal: string }>()
    .executeTakeFirst()
  if (found === undefined) return undefined
  const { personal, ...known } = found
  const { first_name, email } = openBorrower(leadId, personal, encryptionKeys)
  return { first_name, email, ...known }
}

/**
 * Claims a lead's onboarding mail for the caller, who sends it. Claims of one address take turns, in all processes, so that
 * each counts the mails that were sent or are being sent to it.
 *
 * @returns `undefined` if another process sends it, or if it has just been sent or must not be sent any more.
 */
export async function claimOnboardingMail(
  sql: Sql,
  { leadId, email }: { leadId: number; email: string },
  encryptionKeys: readonly Buffer[],
): Promise<'sending' | 'address_limit' | undefined> {
  const hashes = hashesOfEmail(email, encryptionKeys)
  return sql.transaction().execute(async (trx) => {
    await takeLock(trx, 'mails_of_address', hashes[0])
    const { rows } = await raw<{ onboarding: 'sending' | 'address_limit' }>`
      update leads set onboarding_at = clock_timestamp(), onboarding = case when (
        select count(*) from leads where email_hash = any(${hashes}) and id <> ${leadId} and (
          onboarding = 'sent' and onboarding_at > clock_timestamp() - interval '24 hours' or ${isBeingSent})
      ) < ${MOST_MAILS_OF_ADDRESS}::int then 'sending' else 'address_limit' end
      where id = ${leadId} and ${isWelcome} and not ${isBeingSent}
      returning onboarding`.execute(trx)
    return rows[0]?.onboarding
  })
}

/** Records the outcome of a mail that the caller has claimed, unless the lead was erased meanwhile. */
export async function noteOnboardingMail(
  sql: Sql,
  leadId: number,
  onboarding: 'sent' | 'failed',
): Promise<void> {
  await sql
    .updateTable('leads')
    .set({ onboarding, onboarding_at: raw<Date>`clock_timestamp()` })
    .where('id', '=', leadId)
    .where('onboarding', '=', 'sending')
    .execute()
}
