import type { Sql } from '../../database/orm.ts'
import type { LostMilestone } from '../decisions/restore.ts'
import { currentGeneration } from './generation.ts'

/** Lists a lead that is not in the record any more. */
export async function addLostLead(sql: Sql, leadId: number, partnerId: number): Promise<void> {
  await sql
    .insertInto('losses')
    .values({ ...lossOf(leadId, partnerId), dedupe_key: '', is_recorded_again: false })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Lists milestones that are not in the record any more, and that the lead's workflow records again. */
export async function addLostMilestones(
  sql: Sql,
  leadId: number,
  partnerId: number,
  lost: readonly LostMilestone[],
): Promise<void> {
  if (lost.length === 0) return
  const losses = lost.map(({ name, dedupeKey, at }) => ({
    ...lossOf(leadId, partnerId),
    dedupe_key: dedupeKey,
    event_name: name,
    happened_at: at === undefined ? null : new Date(at),
    is_recorded_again: true,
  }))
  await sql
    .insertInto('losses')
    .values(losses)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

const lossOf = (leadId: number, partnerId: number) => ({
  generation: currentGeneration,
  lead_id: leadId,
  partner_id: partnerId,
})
