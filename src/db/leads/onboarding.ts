import { sql as raw } from 'kysely'
import type { MailRefusal } from '../entities/onboarding-mail.ts'
import { takeKeyedLocks } from '../locks.ts'
import type { Sql } from '../orm.ts'

/** How many onboarding mails may be sent; 0 is no limit. */
export interface MailLimits {
  /** To one address in 24 hours. With 0, a partner may also have the same address mailed again. */
  perAddress: number
  /** About one partner's leads in an hour. */
  perPartner: number
}

interface Claim {
  leadId: number
  partnerId: number
  /** Of the borrower's address, under each encryption key; the first is stored. */
  addressHashes: readonly string[]
}

interface Claimed {
  refused: MailRefusal | null
  /** 0 or less if the mail may be sent now. */
  due_in_ms: number
}

const dueInMs = raw<number>`(extract(epoch from due_at - clock_timestamp()) * 1000)::float8`

/**
 * Claims a lead's onboarding mail, once: a repeat gets the same answer. In all processes, claims of one address and of one
 * partner take turns, so that each counts those before it. A mail beyond its partner's limit gets the next free time: in
 * no hour are more due than the limit.
 */
export async function claimOnboardingMail(sql: Sql, claim: Claim, limits: MailLimits): Promise<Claimed> {
  const claimed = await sql.transaction().execute(async (trx) => {
    await takeKeyedLocks(trx, {
      mails_of_address: claim.addressHashes[0] ?? '',
      mails_of_partner: claim.partnerId,
    })
    return insertClaim(trx, claim, limits)
  })
  return claimed ?? findClaim(sql, claim.leadId)
}

/** @returns nothing if the lead has a claim. */
async function insertClaim(
  trx: Sql,
  { leadId, partnerId, addressHashes }: Claim,
  { perAddress, perPartner }: MailLimits,
): Promise<Claimed | undefined> {
  const { rows } = await raw<Claimed>`
    with before as (
      select count(*) as mails, coalesce(bool_or(partner_id = ${partnerId}), false) as is_repeated
      from onboarding_mails
      where address_hash = any(${addressHashes}) and due_at > clock_timestamp() - interval '24 hours'
    ), decided as (
      select case when ${perAddress}::int = 0 then null when is_repeated then 'repeated'
        when mails >= ${perAddress}::int then 'address_limit' end as refused
      from before
    ), free as (
      select due_at + interval '1 hour' as at from onboarding_mails
      where partner_id = ${partnerId} and refused is null and ${perPartner}::int > 0
      order by due_at desc offset greatest(${perPartner}::int - 1, 0) limit 1
    )
    insert into onboarding_mails (lead_id, partner_id, address_hash, due_at, refused)
    select ${leadId}, ${partnerId}, case when refused is null then ${addressHashes[0]} end,
      case when refused is null then greatest(clock_timestamp(), (select at from free)) else clock_timestamp() end, refused
    from decided
    on conflict (lead_id) do nothing
    returning refused, ${dueInMs} as due_in_ms`.execute(trx)
  return rows[0]
}

async function findClaim(sql: Sql, leadId: number): Promise<Claimed> {
  return sql
    .selectFrom('onboarding_mails')
    .select(['refused', dueInMs.as('due_in_ms')])
    .where('lead_id', '=', leadId)
    .executeTakeFirstOrThrow()
}

/** What became of a lead's onboarding mail, beside `leads.onboarding_sent_at`; `undefined` if it has no claim yet. */
export async function findOnboardingMail(sql: Sql, leadId: number) {
  return sql
    .selectFrom('onboarding_mails')
    .select(['due_at', 'refused'])
    .where('lead_id', '=', leadId)
    .executeTakeFirst()
}

/** Forgets the addresses of mails that are not counted any more; at most `limit`. @returns how many. */
export async function forgetMailedAddresses(sql: Sql, limit: number): Promise<number> {
  const { numAffectedRows } = await raw`
    update onboarding_mails set address_hash = null where lead_id in (
      select lead_id from onboarding_mails
      where address_hash is not null and due_at < clock_timestamp() - interval '24 hours'
      order by due_at limit ${limit})`.execute(sql)
  return Number(numAffectedRows ?? 0)
}
