import { sql as raw } from 'kysely'
import type { MailRefusal } from '../tables/onboarding-mail.ts'
import { takeLock } from '../../database/locks/locks.ts'
import type { Sql } from '../../database/orm.ts'

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

export type Claimed =
  /** Sent already, or not to be sent any more: the lead is closed, erased or gone. */
  | { kind: 'settled' }
  | { kind: 'refused'; refused: MailRefusal }
  | { kind: 'not_due'; forMs: number }
  /** Another process holds the lease. */
  | { kind: 'under_way'; forMs: number }
  /** The lease is this caller's, for `SENDING_MS`; the mail has been due for so long. */
  | { kind: 'leased'; lease: string; lateMs: number }

/**
 * How long only one process sends a mail. No mail takes as long: connecting has ten seconds, and each of about eight
 * answers of the mail server a minute.
 */
const SENDING_MS = 600_000

/**
 * Claims a lead's onboarding mail, once, and its lease: a repeat gets the same answer. In all processes, claims of one
 * address and of one partner take turns, so that each counts those before it. A mail beyond its partner's limit gets the
 * next free time: in no hour are more due than the limit.
 *
 * The lead is locked first: a lead that is being erased gets no claim afterwards, and whoever waits for a lead keeps
 * nobody else waiting.
 */
export async function claimOnboardingMail(sql: Sql, claim: Claim, limits: MailLimits): Promise<Claimed> {
  return sql.transaction().execute(async (trx) => {
    if (!(await lockWelcomed(trx, claim.leadId))) return { kind: 'settled' }
    await takeLock(trx, 'mails_of_address', claim.addressHashes[0])
    await takeLock(trx, 'mails_of_partner', claim.partnerId)
    await insertClaim(trx, claim, limits)
    return takeLease(trx, claim.leadId)
  })
}

/** Locks a lead against erasure. @returns false if its borrower is not to be welcomed any more. */
async function lockWelcomed(trx: Sql, leadId: number): Promise<boolean> {
  const lead = await trx
    .selectFrom('leads')
    .select('id')
    .where('id', '=', leadId)
    .where('onboarding_sent_at', 'is', null)
    .where('erased_at', 'is', null)
    .where('closed_at', 'is', null)
    .forShare()
    .executeTakeFirst()
  return lead !== undefined
}

/** Nothing, if the lead has a claim. */
async function insertClaim(
  trx: Sql,
  { leadId, partnerId, addressHashes }: Claim,
  { perAddress, perPartner }: MailLimits,
): Promise<void> {
  await raw`
    with before as (
      select count(*) as mails, coalesce(bool_or(onboarding_mails.partner_id = ${partnerId}), false) as is_repeated
      -- those that were sent, or still may be
      from onboarding_mails join leads on leads.id = onboarding_mails.lead_id
      where address_hash = any(${addressHashes}) and due_at > clock_timestamp() - interval '24 hours'
        and (onboarding_sent_at is not null or closed_at is null and erased_at is null)
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
    on conflict (lead_id) do nothing`.execute(trx)
}

async function takeLease(trx: Sql, leadId: number): Promise<Claimed> {
  const { rows } = await raw<{
    refused: MailRefusal | null
    due_in_ms: number
    busy_ms: number
    lease: string | null
  }>`
    with leased as (
      update onboarding_mails set sending_until = clock_timestamp() + ${SENDING_MS} * interval '1 millisecond'
      where lead_id = ${leadId} and refused is null and due_at <= clock_timestamp()
        and coalesce(sending_until, '-infinity') <= clock_timestamp()
      returning sending_until::text as lease
    )
    select refused, (extract(epoch from due_at - clock_timestamp()) * 1000)::float8 as due_in_ms,
      coalesce(extract(epoch from sending_until - clock_timestamp()) * 1000, 0)::float8 as busy_ms,
      (select lease from leased) as lease
    from onboarding_mails where lead_id = ${leadId}`.execute(trx)
  const [claim] = rows
  if (claim === undefined) return { kind: 'settled' }
  const { refused, due_in_ms: dueInMs, busy_ms: busyMs, lease } = claim
  if (refused !== null) return { kind: 'refused', refused }
  if (lease !== null) return { kind: 'leased', lease, lateMs: Math.max(0, -dueInMs) }
  return dueInMs > 0 ? { kind: 'not_due', forMs: dueInMs } : { kind: 'under_way', forMs: Math.max(busyMs, 1) }
}

/** Writes down that a lead's mail was sent, even if another process has the lease by now. */
export async function finishOnboardingMail(sql: Sql, leadId: number): Promise<void> {
  await sql.transaction().execute(async (trx) => {
    await trx
      .updateTable('leads')
      .set({ onboarding_sent_at: raw<Date>`clock_timestamp()` })
      .where('id', '=', leadId)
      .where('onboarding_sent_at', 'is', null)
      .execute()
    await trx
      .updateTable('onboarding_mails')
      .set({ sending_until: null })
      .where('lead_id', '=', leadId)
      .execute()
  })
}

/** Gives a lease back: the mail was not sent. */
export async function releaseOnboardingMail(sql: Sql, leadId: number, lease: string): Promise<void> {
  await sql
    .updateTable('onboarding_mails')
    .set({ sending_until: null })
    .where('lead_id', '=', leadId)
    .where('sending_until', '=', raw<Date>`${lease}::timestamptz`)
    .execute()
}

/** What became of a lead's onboarding mail, beside `leads.onboarding_sent_at`; `undefined` if it has no claim yet. */
export async function findOnboardingMail(sql: Sql, leadId: number) {
  return sql
    .selectFrom('onboarding_mails')
    .select(['due_at', 'refused'])
    .where('lead_id', '=', leadId)
    .executeTakeFirst()
}
