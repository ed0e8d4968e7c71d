import { sql as raw } from 'kysely'
import type { Hold } from '../leads/reasons.ts'
import type { Sql } from '../database/sql.ts'

/** Keeps a lead from being erased; a repeat changes why. @returns false if it is erased already. */
export async function holdLead(trx: Sql, leadId: number, { reason, reference }: Hold): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('leads')
    .set({
      held_at: raw<Date>`coalesce(held_at, clock_timestamp())`,
      hold_reason: reason,
      hold_reference: reference,
    })
    .where('id', '=', leadId)
    .where('erased_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Lets a lead be erased again. @returns false if it was not held. */
export async function releaseLead(trx: Sql, leadId: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('leads')
    .set({ held_at: null, hold_reason: null, hold_reference: null })
    .where('id', '=', leadId)
    .where('held_at', 'is not', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Why a partner's lead must be kept; `undefined` if it need not, or there is none. */
export async function findHold(sql: Sql, partnerId: number, leadId: number): Promise<Hold | undefined> {
  const lead = await sql
    .selectFrom('leads')
    .select(['hold_reason as reason', 'hold_reference as reference'])
    .where('id', '=', leadId)
    .where('partner_id', '=', partnerId)
    .where('erased_at', 'is', null)
    .executeTakeFirst()
  return lead?.reason ? { ...lead, reason: lead.reason } : undefined
}
