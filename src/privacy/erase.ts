import { sql as raw } from 'kysely'
import { recordAudit } from '../audit.ts'
import { inTransaction, type Sql } from '../database/sql.ts'
import { canceled, noLease } from '../deliveries/delivery.ts'
import { eachField, erasedFields } from '../leads/lead-fields.ts'
import { leadUpdatedAt } from '../leads/lead.ts'
import type { AnyCloseReason, AnyErasureReason } from '../leads/reasons.ts'
import { type ErasedLead, logErased } from './erasure-log.ts'

interface Erasing {
  /** Who erases, for the audit. */
  by: string
  /** Why, for the audit; with a case number of staff's, or the days after which retention erases. */
  detail: { reason: AnyErasureReason | null; reference?: string | undefined; retention_days?: number }
  /** Erases leads of this partner only. */
  partnerId?: number
  /** The erasure log. Absent in a sandbox without one, and for leads that are in the log already. */
  logFile?: string | undefined
}

/**
 * Erases leads for good, in one transaction. A lead that is held or already erased stays as it is. The lines in the erasure
 * log are written before the commit, so no committed erasure lacks its line.
 *
 * @returns the ids of the leads that it erased.
 * @throws the file system's error if the log cannot be written; then nothing is erased.
 */
export async function eraseLeads(sql: Sql, leadIds: readonly number[], erasing: Erasing): Promise<number[]> {
  const { by, detail, partnerId, logFile } = erasing
  return inTransaction(sql, async (trx) => {
    const leads = await lockLeads(trx, leadIds, partnerId)
    const ids = leads.map(({ id }) => id)
    if (ids.length === 0) return ids
    await emptyLeads(trx, ids)
    for (const { id: leadId, partner_id } of leads) {
      const action = { action: 'lead.erase', leadId, partnerId: partner_id, detail }
      await recordAudit(trx, by, { ...action, outcome: 'done' })
    }
    if (logFile !== undefined) {
      const { id: deployment } = await trx.selectFrom('deployment').select('id').executeTakeFirstOrThrow()
      await logErased(
        logFile,
        leads.map(({ id, event_id }) => ({ deployment, lead_id: id, event_id })),
      )
    }
    return ids
  })
}

/** Locks those that may be erased. */
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

/**
 * Empties locked leads of all personal data, closes those that are open, and cancels their webhooks. It locks deliveries
 * before attempts, as the delivery of a webhook does.
 */
export async function emptyLeads(trx: Sql, leadIds: readonly number[]): Promise<void> {
  await trx
    .updateTable('leads')
    .set({
      personal: null,
      email_hash: null,
      onboarding: null,
      onboarding_at: null,
      ...eachField(erasedFields, () => null),
      erased_at: raw<Date>`clock_timestamp()`,
      closed_at: raw<Date>`coalesce(closed_at, clock_timestamp())`,
      close_reason: raw<AnyCloseReason>`coalesce(close_reason, 'erased')`,
      updated_at: leadUpdatedAt,
    })
    .where('id', 'in', leadIds)
    .execute()
  await trx.deleteFrom('idempotency_keys').where('lead_id', 'in', leadIds).execute()
  await cancelDeliveries(trx, leadIds)
  await trx
    .updateTable('attempts')
    .from('deliveries')
    .set({ response_headers: null, response_body: null })
    .whereRef('deliveries.event_id', '=', 'attempts.event_id')
    .where('deliveries.lead_id', 'in', leadIds)
    .execute()
}

/**
 * Cancels open deliveries, and clears the lease of each that is being sent: a sender without its lease stores nothing of the
 * endpoint's answer. It writes settled ones, too: a replay that has read one before writes nothing then, and finds the lead
 * erased.
 */
async function cancelDeliveries(trx: Sql, leadIds: readonly number[]): Promise<void> {
  await trx
    .selectFrom('deliveries')
    .select('event_id')
    .where('lead_id', 'in', leadIds)
    .orderBy('lead_id')
    .orderBy('sequence')
    .forUpdate()
    .execute()
  const deliveries = trx.updateTable('deliveries').where('lead_id', 'in', leadIds)
  await deliveries.set(canceled).where('state', '=', 'pending').execute()
  await deliveries.set(noLease).execute()
}

/**
 * Erases again the leads of an erasure log that a restored record still has. Deployment, lead id and first event must match:
 * after a restore, another borrower's lead may have the same id.
 *
 * @returns how many lines are of this deployment, which leads it erased, and which not because the record says that they are
 * held.
 */
export async function eraseAgain(sql: Sql, lines: readonly ErasedLead[], by: Erasing['by']) {
  const { id: deployment } = await sql.selectFrom('deployment').select('id').executeTakeFirstOrThrow()
  const own = lines.filter((line) => line.deployment === deployment)
  const erased: number[] = []
  const held: number[] = []
  for (const { lead_id: leadId, event_id: eventId } of own) {
    const lead = await sql
      .selectFrom('leads')
      .innerJoin('lead_events', 'lead_events.lead_id', 'leads.id')
      .select('held_at')
      .where('leads.id', '=', leadId)
      .where('lead_events.id', '=', eventId)
      .where('lead_events.position', '=', 1)
      .where('erased_at', 'is', null)
      .executeTakeFirst()
    if (lead === undefined) continue
    if (lead.held_at !== null) held.push(leadId)
    else erased.push(...(await eraseLeads(sql, [leadId], { by, detail: { reason: 'restored' } })))
  }
  return { lines: own.length, erased, held }
}
