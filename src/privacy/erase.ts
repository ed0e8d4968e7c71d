import { sql as raw } from 'kysely'
import { recordAudit } from '../audit.ts'
import { inTransaction, type Sql } from '../database/sql.ts'
import { canceled, noLease } from '../deliveries/delivery.ts'
import { eachField, erasedFields } from '../leads/lead-fields.ts'
import { leadsChange } from '../leads/lead.ts'
import type { AnyCloseReason, AnyErasureReason } from '../leads/reasons.ts'
import { type ErasedLead, logErased } from './erasure-log.ts'

/** A lead's columns that hold personal data, with nothing in them. */
const emptied = {
  personal: null,
  email_hash: null,
  ...eachField(erasedFields, () => null),
  metadata: raw<Record<string, string>>`'{}'::jsonb`,
}

/**
 * Empties leads, which are locked, of all personal data; closes those that are open, and cancels their webhooks. Locks
 * their deliveries before their attempts, as sending a webhook does.
 */
export async function emptyLeads(trx: Sql, leadIds: readonly number[]): Promise<void> {
  await trx
    .updateTable('leads')
    .set({
      ...emptied,
      erased_at: raw<Date>`clock_timestamp()`,
      closed_at: raw<Date>`coalesce(closed_at, clock_timestamp())`,
      close_reason: raw<AnyCloseReason>`coalesce(close_reason, 'erased')`,
      updated_at: leadsChange,
    })
    .where('id', 'in', leadIds)
    .execute()
  await trx.deleteFrom('idempotency_keys').where('lead_id', 'in', leadIds).execute()
  // by which mails to an address are counted
  await trx
    .updateTable('onboarding_mails')
    .set({ address_hash: null })
    .where('lead_id', 'in', leadIds)
    .where('address_hash', 'is not', null)
    .execute()
  await cancelDeliveries(trx, leadIds)
  await trx
    .updateTable('attempts')
    .from('deliveries')
    .set({ response_headers: null, response_body: null, address: null })
    .whereRef('deliveries.event_id', '=', 'attempts.event_id')
    .where('deliveries.lead_id', 'in', leadIds)
    .execute()
}

/**
 * Cancels the open ones, and takes the lease of each that is being sent: whoever has lost it writes nothing of what the
 * endpoint answers. Settled ones are not sent again.
 */
async function cancelDeliveries(trx: Sql, leadIds: readonly number[]): Promise<void> {
  // a replay of a settled one has begun its attempt then, or finds that the lead is erased
  await trx
    .selectFrom('deliveries')
    .select('event_id')
    .where('lead_id', 'in', leadIds)
    .orderBy('lead_id')
    .orderBy('sequence')
    .forUpdate()
    .execute()
  await trx
    .updateTable('deliveries')
    .set({ ...canceled, resend_requested_at: null })
    .where('lead_id', 'in', leadIds)
    .where('state', '=', 'pending')
    .execute()
  await trx
    .updateTable('deliveries')
    .set(noLease)
    .where('lead_id', 'in', leadIds)
    .where('lease', 'is not', null)
    .execute()
}

export interface Erasing {
  /** Who erases, as the audit takes them. */
  by: Parameters<typeof recordAudit>[1]
  reason: AnyErasureReason | null
  /** A case number of staff's. */
  reference?: string | undefined
  /** After how many days retention erases them. */
  retentionDays?: number
  /** Only this partner's. */
  partnerId?: number
  /** The erasure log; absent in a sandbox without one, and for leads that are in it already. */
  logFile?: string | undefined
  /** Is called before the audit's row is written. */
  keep?: () => Promise<void>
}

/**
 * Erases leads for good, and answers which: not those that are held, or erased already. One transaction; its lines in the
 * erasure log are written before it commits, so that no committed erasure lacks its line.
 *
 * @throws what the file system says of the erasure log: nothing is erased then.
 */
export async function eraseLeads(sql: Sql, leadIds: readonly number[], erasing: Erasing): Promise<number[]> {
  if (leadIds.length === 0) return []
  const { logFile, keep } = erasing
  return inTransaction(sql, async (trx) => {
    const leads = await lockLeads(trx, leadIds, erasing.partnerId)
    if (leads.length === 0) return []
    const ids = leads.map(({ id }) => id)
    await emptyLeads(trx, ids)
    if (logFile !== undefined) {
      const { id: deployment } = await trx.selectFrom('deployment').select('id').executeTakeFirstOrThrow()
      await logErased(
        logFile,
        leads.map(({ id, event_id }) => ({ deployment, lead_id: id, event_id })),
      )
    }
    await keep?.()
    await audit(trx, leads, erasing)
    return ids
  })
}

async function lockLeads(trx: Sql, leadIds: readonly number[], partnerId: number | undefined) {
  return trx
    .selectFrom('leads')
    .select(['id', 'partner_id'])
    .select(
      raw<string>`(select id from lead_events where lead_id = leads.id and position = 1)`.as('event_id'),
    )
    .where('id', 'in', leadIds)
    .$if(partnerId !== undefined, (query) => query.where('partner_id', '=', partnerId ?? 0))
    .where('erased_at', 'is', null)
    .where('held_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute()
}

/** One row for all: a batch of retention's is one action. */
async function audit(
  trx: Sql,
  leads: readonly { id: number; partner_id: number }[],
  { by, reason, reference, retentionDays }: Erasing,
): Promise<void> {
  const [first, ...others] = leads
  if (first === undefined) return
  const isOne = others.length === 0
  await recordAudit(trx, by, {
    action: isOne ? 'lead.erase' : 'leads.erase',
    outcome: 'done',
    ...(isOne && { partnerId: first.partner_id, leadId: first.id }),
    detail: {
      reason,
      ...(reference !== undefined && { reference }),
      ...(retentionDays !== undefined && { retention_days: retentionDays }),
      ...(!isOne && { lead_ids: leads.map(({ id }) => id) }),
    },
  })
}

/** Leads that are looked up, and erased, at a time. */
const PAGE = 100

interface ErasedAgain {
  /** Lines of this deployment. */
  lines: number
  /** Leads that the record still had, and that are erased now. */
  erased: number[]
  /** Leads that the record says are held: they are not. */
  held: number[]
}

/**
 * Erases again what a restored record still has of the leads of an erasure log. A lead is meant where its deployment, its id
 * and its first event are the same: another one may have been given its id.
 */
export async function eraseAgain(
  sql: Sql,
  lines: readonly ErasedLead[],
  by: Erasing['by'],
): Promise<ErasedAgain> {
  const own = await sql.selectFrom('deployment').select('id').executeTakeFirstOrThrow()
  const ofOwn = lines.filter(({ deployment }) => deployment === own.id)
  const again: ErasedAgain = { lines: ofOwn.length, erased: [], held: [] }
  for (let start = 0; start < ofOwn.length; start += PAGE) {
    const leads = await leadsOf(sql, ofOwn.slice(start, start + PAGE))
    again.held.push(...leads.flatMap(({ id, isHeld }) => (isHeld ? id : [])))
    const ids = leads.flatMap(({ id, isHeld }) => (isHeld ? [] : id))
    again.erased.push(...(await eraseLeads(sql, ids, { by, reason: 'restored' })))
  }
  return again
}

/** The leads of the lines that the record has and that are not erased. */
async function leadsOf(sql: Sql, lines: readonly ErasedLead[]) {
  return sql
    .selectFrom('leads')
    .innerJoin('lead_events', 'lead_events.lead_id', 'leads.id')
    .select(['leads.id', raw<boolean>`held_at is not null`.as('isHeld')])
    .distinct()
    .where('erased_at', 'is', null)
    .where('lead_events.position', '=', 1)
    .where(
      raw<boolean>`(leads.id, lead_events.id) in (select * from unnest(
        ${lines.map((line) => line.lead_id)}::int[], ${lines.map((line) => line.event_id)}::text[]))`,
    )
    .execute()
}
