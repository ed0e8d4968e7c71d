import { sql as raw } from 'kysely'
import type { RowCounts } from '../decisions/erasure.ts'
import type { AnyCloseReason } from '../../../core/leads/decisions/reasons.ts'
import { canceled } from '../../../core/deliveries/statements/cancel-open.ts'
import { leadsChange } from '../../../core/leads/statements/leads-now.ts'
import type { Sql } from '../../../core/database/orm.ts'

/** A lead's columns that hold personal data, with nothing in them. */
const emptied = {
  personal: null,
  email_hash: null,
  fico_range: null,
  loan_officer_id: null,
  notes: null,
  metadata: raw<Record<string, string>>`'{}'::jsonb`,
}
/** Whether a row of `leads` still holds any. */
const isFilled = raw<boolean>`(coalesce(personal, email_hash, fico_range, loan_officer_id, notes) is not null or metadata <> '{}')`

/** What an endpoint answered. */
const emptiedAttempt = { response_headers: null, response_body: null, address: null }
const isAttemptFilled = raw<boolean>`(response_headers is not null or response_body is not null or address is not null)`

export const NO_ROWS: RowCounts = {
  leads: 0,
  idempotency_keys: 0,
  onboarding_mails: 0,
  deliveries: 0,
  attempts: 0,
}

/** How many rows of each table are a lead's, by its id. */
type Counted = Map<number, number>

/** What was emptied, deleted or canceled, of each lead. */
export type Emptied = (leadId: number) => RowCounts

/**
 * Empties leads, which are locked, of all personal data; closes those that are open, and cancels their webhooks. Locks
 * their deliveries before their attempts, as sending a webhook does.
 */
export async function emptyLeads(trx: Sql, leadIds: readonly number[]): Promise<Emptied> {
  const leads = await trx
    .updateTable('leads')
    .set({
      ...emptied,
      erased_at: raw<Date>`clock_timestamp()`,
      closed_at: raw<Date>`coalesce(closed_at, clock_timestamp())`,
      close_reason: raw<AnyCloseReason>`coalesce(close_reason, 'erased')`,
      updated_at: leadsChange,
    })
    .where('id', 'in', leadIds)
    .returning('id as lead_id')
    .execute()
  const keys = await trx
    .deleteFrom('idempotency_keys')
    .where('lead_id', 'in', leadIds)
    .returning('lead_id')
    .$narrowType<{ lead_id: number }>()
    .execute()
  const mails = await emptyAddresses(trx, leadIds)
  const deliveries = await cancelDeliveries(trx, leadIds)
  const attempts = await emptyAttempts(trx, leadIds)
  const of = {
    leads: counted(leads),
    idempotency_keys: counted(keys),
    onboarding_mails: counted(mails),
    deliveries: counted(deliveries),
    attempts: counted(attempts),
  }
  return (leadId) => ({
    leads: of.leads.get(leadId) ?? 0,
    idempotency_keys: of.idempotency_keys.get(leadId) ?? 0,
    onboarding_mails: of.onboarding_mails.get(leadId) ?? 0,
    deliveries: of.deliveries.get(leadId) ?? 0,
    attempts: of.attempts.get(leadId) ?? 0,
  })
}

/** Answers the open ones that were canceled. Settled ones are not sent again: open ones first, which may yet be marked. */
async function cancelDeliveries(trx: Sql, leadIds: readonly number[]) {
  // a replay of a settled one has begun its attempt then, or finds that the lead is erased
  await trx
    .selectFrom('deliveries')
    .select('event_id')
    .where('lead_id', 'in', leadIds)
    .orderBy('lead_id')
    .orderBy('sequence')
    .forUpdate()
    .execute()
  const open = await trx
    .updateTable('deliveries')
    .set({ ...canceled, resend_requested_at: null })
    .where('lead_id', 'in', leadIds)
    .where('state', '=', 'pending')
    .returning('lead_id')
    .execute()
  await trx
    .updateTable('deliveries')
    .set({ resend_requested_at: null })
    .where('lead_id', 'in', leadIds)
    .where('resend_requested_at', 'is not', null)
    .execute()
  return open
}

/** Empties that by which mails to an address are counted. */
export async function emptyAddresses(trx: Sql, leadIds: readonly number[]) {
  return trx
    .updateTable('onboarding_mails')
    .set({ address_hash: null })
    .where('lead_id', 'in', leadIds)
    .where('address_hash', 'is not', null)
    .returning('lead_id')
    .execute()
}

/** Empties what endpoints answered; again once an attempt has ended that was under way. */
export async function emptyAttempts(trx: Sql, leadIds: readonly number[]) {
  return trx
    .updateTable('attempts')
    .from('deliveries')
    .set(emptiedAttempt)
    .whereRef('deliveries.event_id', '=', 'attempts.event_id')
    .where('deliveries.lead_id', 'in', leadIds)
    .where(isAttemptFilled)
    .returning('deliveries.lead_id')
    .execute()
}

function counted(rows: readonly { lead_id: number }[]): Counted {
  const counts: Counted = new Map()
  for (const { lead_id: leadId } of rows) counts.set(leadId, (counts.get(leadId) ?? 0) + 1)
  return counts
}

/** Counts what is left of leads: 0 everywhere, once they are erased. */
export async function countLeft(sql: Sql, leadIds: readonly number[]): Promise<Emptied> {
  const rows = await sql
    .selectFrom('leads')
    .select('id')
    .select([
      raw<number>`(${isFilled} or erased_at is null)::int`.as('leads'),
      raw<number>`(select count(*)::int from idempotency_keys where lead_id = leads.id)`.as(
        'idempotency_keys',
      ),
      raw<number>`(select count(*)::int from onboarding_mails
        where lead_id = leads.id and address_hash is not null)`.as('onboarding_mails'),
      raw<number>`(select count(*)::int from deliveries
        where lead_id = leads.id and (state = 'pending' or resend_requested_at is not null))`.as(
        'deliveries',
      ),
      raw<number>`(select count(*)::int from deliveries join attempts on attempts.event_id = deliveries.event_id
        where lead_id = leads.id and ${isAttemptFilled})`.as('attempts'),
    ])
    .where('id', 'in', leadIds)
    .execute()
  const lefts = new Map(rows.map(({ id, ...left }) => [id, left]))
  return (leadId) => lefts.get(leadId) ?? NO_ROWS
}
