import { sql as raw } from 'kysely'
import { noLease } from '../../../core/deliveries/statements/lease.ts'
import type { Sql } from '../../../core/database/sql.ts'
import { canceled } from '../../../core/deliveries/statements/cancel-open.ts'
import { eachField, erasedFields } from '../../../core/leads/decisions/lead-fields.ts'
import type { AnyCloseReason } from '../../../core/leads/decisions/reasons.ts'
import { leadsChange } from '../../../core/leads/statements/leads-now.ts'

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
