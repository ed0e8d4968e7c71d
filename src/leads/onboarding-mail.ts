import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant, oneOf } from '../database/columns.ts'
import { type Sql, takeLock } from '../database/sql.ts'
import { leadRequest } from './lead.ts'
import { openBorrower } from './sealed-lead.ts'

/** Why a borrower gets no onboarding mail. `address_limit`: the address got as many as an address may. */
export const mailRefusals = ['address_limit'] as const
export type MailRefusal = (typeof mailRefusals)[number]

/**
 * A lead's claim to an onboarding mail: whether it may be sent. `leads.onboarding_sent_at` says that it was. It
 * is made under a lock on the lead, so it needs no foreign key.
 */
export const OnboardingMail = defineEntity({
  name: 'OnboardingMail',
  tableName: 'onboarding_mails',
  properties: {
    leadId: p.integer().primary().autoincrement(false),
    partnerId: p.integer(),
    /** By which mails to one address are counted, for 24 hours: HMAC-SHA256 under a key that only the worker can derive. */
    addressHash: p.text().nullable(),
    claimedAt: instant(),
    /** Only one process sends it until then; from then on, or without it, another may. */
    sendingUntil: instant().nullable(),
    refused: p.text().$type<MailRefusal>().nullable(),
  },
  checks: [{ name: 'onboarding_mails_refused_check', expression: oneOf('refused', mailRefusals) }],
  indexes: [
    {
      name: 'onboarding_mails_address_index',
      expression:
        'create index onboarding_mails_address_index on onboarding_mails (address_hash, claimed_at) where address_hash is not null',
    },
    {
      name: 'onboarding_mails_counted_index',
      expression:
        'create index onboarding_mails_counted_index on onboarding_mails (claimed_at) where address_hash is not null',
    },
  ],
})

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

/** Onboarding mails to one address in 24 hours. */
const MOST_MAILS_OF_ADDRESS = 3

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
  /** Another process holds the lease. */
  | { kind: 'under_way'; forMs: number }
  /** The lease is this caller's, for `SENDING_MS`; the mail was claimed so long ago. */
  | { kind: 'leased'; lease: string; ageMs: number }

/**
 * How long only one process sends a mail. No mail takes as long: connecting has ten seconds, and each of about eight
 * answers of the mail server a minute.
 */
const SENDING_MS = 600_000

/**
 * Claims a lead's onboarding mail, once, and its lease: a repeat gets the same answer. In all processes, claims of one
 * address take turns, so that each counts those before it.
 *
 * The lead is locked first: a lead that is being erased gets no claim afterwards, and whoever waits for a lead keeps
 * nobody else waiting.
 */
export async function claimOnboardingMail(sql: Sql, claim: Claim): Promise<Claimed> {
  return sql.transaction().execute(async (trx) => {
    if (!(await lockWelcomed(trx, claim.leadId))) return { kind: 'settled' }
    await takeLock(trx, 'mails_of_address', claim.addressHashes[0])
    await insertClaim(trx, claim)
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
async function insertClaim(trx: Sql, { leadId, partnerId, addressHashes }: Claim): Promise<void> {
  await raw`
    with decided as (
      select case when count(*) >= ${MOST_MAILS_OF_ADDRESS}::int then 'address_limit' end as refused
      -- those that were sent, or still may be
      from onboarding_mails join leads on leads.id = onboarding_mails.lead_id
      where address_hash = any(${addressHashes}) and claimed_at > clock_timestamp() - interval '24 hours'
        and (onboarding_sent_at is not null or closed_at is null and erased_at is null)
    )
    insert into onboarding_mails (lead_id, partner_id, address_hash, claimed_at, refused)
    select ${leadId}, ${partnerId}, case when refused is null then ${addressHashes[0]} end, clock_timestamp(), refused
    from decided
    on conflict (lead_id) do nothing`.execute(trx)
}

async function takeLease(trx: Sql, leadId: number): Promise<Claimed> {
  const { rows } = await raw<{
    refused: MailRefusal | null
    age_ms: number
    busy_ms: number
    lease: string | null
  }>`
    with leased as (
      update onboarding_mails set sending_until = clock_timestamp() + ${SENDING_MS} * interval '1 millisecond'
      where lead_id = ${leadId} and refused is null
        and coalesce(sending_until, '-infinity') <= clock_timestamp()
      returning sending_until::text as lease
    )
    select refused, (extract(epoch from clock_timestamp() - claimed_at) * 1000)::float8 as age_ms,
      coalesce(extract(epoch from sending_until - clock_timestamp()) * 1000, 0)::float8 as busy_ms,
      (select lease from leased) as lease
    from onboarding_mails where lead_id = ${leadId}`.execute(trx)
  const [claim] = rows
  if (claim === undefined) return { kind: 'settled' }
  const { refused, age_ms: ageMs, busy_ms: busyMs, lease } = claim
  if (refused !== null) return { kind: 'refused', refused }
  if (lease !== null) return { kind: 'leased', lease, ageMs }
  return { kind: 'under_way', forMs: Math.max(busyMs, 1) }
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
    .select(['claimed_at', 'refused'])
    .where('lead_id', '=', leadId)
    .executeTakeFirst()
}
