import { sql as raw } from 'kysely'
import { type Sql, takeLock } from '../database/sql.ts'
import { hashesOfEmail, leadRequest, openBorrower } from './lead.ts'
import type { MailRefusal } from './reasons.ts'

/** Onboarding mails to one address in 24 hours. */
const MOST_MAILS_OF_ADDRESS = 3

/**
 * How long only one process sends a mail. No mail takes as long: connecting has ten seconds, and each of about eight
 * answers of the mail server a minute.
 */
const SENDING_MS = 600_000

/** Whose onboarding mail may still be sent. */
const isWelcome = raw<boolean>`onboarding_sent_at is null and erased_at is null and closed_at is null`

/**
 * The recipient of the onboarding mail; `undefined` if it was sent or must not be sent.
 *
 * @throws {SealError}
 */
export async function onboardingRecipient(sql: Sql, leadId: number, encryptionKeys: readonly Buffer[]) {
  const found = await sql
    .selectFrom('leads')
    .innerJoin('partners', 'partners.id', 'leads.partner_id')
    .select(['personal', 'partner_id', 'partners.name as partner_name', leadRequest.as('request_id')])
    .where('leads.id', '=', leadId)
    .where(isWelcome)
    .where('personal', 'is not', null)
    .$narrowType<{ personal: string }>()
    .executeTakeFirst()
  if (found === undefined) return undefined
  const { personal, ...partner } = found
  const { first_name, email } = openBorrower(leadId, personal, encryptionKeys)
  return { first_name, email, ...partner }
}

export type Claimed =
  /** Sent already, or not to be sent any more: the lead is closed, erased or gone. */
  | { kind: 'settled' }
  | { kind: 'refused'; refused: MailRefusal }
  /** Another process holds the lease. */
  | { kind: 'under_way'; forMs: number }
  /** The lease is this caller's, for `SENDING_MS`; the mail was claimed first so long ago. */
  | { kind: 'leased'; lease: string; ageMs: number }

/**
 * Takes the lease of a lead's onboarding mail. Claims of one address take turns, in all processes, so that each counts the
 * mails that were sent or are being sent to it.
 */
export async function claimOnboardingMail(
  sql: Sql,
  { leadId, email }: { leadId: number; email: string },
  encryptionKeys: readonly Buffer[],
): Promise<Claimed> {
  const hashes = hashesOfEmail(email, encryptionKeys)
  return sql.transaction().execute(async (trx): Promise<Claimed> => {
    await takeLock(trx, 'mails_of_address', hashes[0])
    const { rows: found } = await raw<{
      refused: MailRefusal | null
      busy_ms: number | null
      age_ms: number | null
      are_many: boolean
    }>`
      select onboarding_refused as refused,
        (extract(epoch from onboarding_sending_until - clock_timestamp()) * 1000)::float8 as busy_ms,
        (extract(epoch from clock_timestamp() - onboarding_claimed_at) * 1000)::float8 as age_ms,
        (select count(*) >= ${MOST_MAILS_OF_ADDRESS}::int from leads as other
          where other.email_hash = any(${hashes}) and other.id <> ${leadId} and (
            other.onboarding_sent_at > clock_timestamp() - interval '24 hours'
            or other.onboarding_sending_until > clock_timestamp()
          )) as are_many
      from leads where id = ${leadId} and ${isWelcome}`.execute(trx)
    const [lead] = found
    if (lead === undefined) return { kind: 'settled' }
    if (lead.busy_ms !== null && lead.busy_ms > 0) return { kind: 'under_way', forMs: lead.busy_ms }
    // once refused, it stays so: a workflow that begins anew asks again
    const refused = lead.are_many ? 'address_limit' : lead.refused
    const { rows: claims } = await raw<{ lease: string | null }>`
      update leads set onboarding_claimed_at = coalesce(onboarding_claimed_at, clock_timestamp()),
        onboarding_refused = ${refused}, onboarding_sending_until =
          case when ${refused}::text is null then clock_timestamp() + ${SENDING_MS} * interval '1 millisecond' end
      where id = ${leadId} and ${isWelcome}
      returning onboarding_sending_until::text as lease`.execute(trx)
    if (refused !== null) return { kind: 'refused', refused }
    const lease = claims[0]?.lease
    return lease ? { kind: 'leased', lease, ageMs: lead.age_ms ?? 0 } : { kind: 'settled' }
  })
}

/** Writes down that a lead's mail was sent, even if another process has the lease by now. */
export async function finishOnboardingMail(sql: Sql, leadId: number): Promise<void> {
  await sql
    .updateTable('leads')
    .set({ onboarding_sent_at: raw<Date>`clock_timestamp()`, onboarding_sending_until: null })
    .where('id', '=', leadId)
    .where('onboarding_sent_at', 'is', null)
    .execute()
}

/** Gives a lease back: the mail was not sent. */
export async function releaseOnboardingMail(sql: Sql, leadId: number, lease: string): Promise<void> {
  await sql
    .updateTable('leads')
    .set({ onboarding_sending_until: null })
    .where('id', '=', leadId)
    .where('onboarding_sending_until', '=', raw<Date>`${lease}::timestamptz`)
    .execute()
}
