import { raiseGeneration } from '../src/db/generation.ts'
import { addLostLead, addLostMilestones } from '../src/db/restores.ts'
import { createdAtOf, recordedAmong } from '../src/db/leads/recorded-among.ts'
import { loadReferralState } from '../src/db/leads/referral-states.ts'
import type { Sql } from '../src/db/orm.ts'
import { milestones, signalledMilestones } from '../src/domain/milestones.ts'
import { isTimed, type MilestoneItem, type ReferralState, type TakenOver } from '../src/domain/referral.ts'
import { LATE_FACTS_MS } from '../src/domain/score-dates.ts'

export interface TakeOverDependencies {
  sql: Sql
  /** What Temporal's histories say was recorded of a lead, in its order. */
  recordedBefore: (leadId: number, createdAt: Date) => Promise<MilestoneItem[]>
}

/**
 * What a lead's workflow goes on with after the record went back: the state that the record has, and the milestones that
 * it has lost. Lists what is lost. Repeated, it answers the same.
 */
export function takeOverRecordActivity({ sql, recordedBefore }: TakeOverDependencies) {
  return async (known: ReferralState): Promise<TakenOver> => {
    const { leadId, partnerId } = known
    const createdAt = await createdAtOf(sql, leadId)
    if (createdAt === undefined) {
      await addLostLead(sql, leadId, partnerId)
      return null
    }
    // the timer's score updates come by themselves, from what the record has
    const before = (await recordedBefore(leadId, createdAt)).filter((item) => !isTimed(item))
    const items = [...before, ...seenWithout(before, known)]
    const there = await recordedAmong(
      sql,
      leadId,
      items.map(({ dedupeKey }) => dedupeKey),
    )
    const again = items.filter(({ dedupeKey }) => !there.has(dedupeKey))
    // nothing else takes away an event that an activity has answered with
    if (again.some(({ as }) => as !== undefined))
      await sql.transaction().execute((trx) => raiseGeneration(trx, 'workflow', known.generation))
    await addLostMilestones(sql, leadId, partnerId, again)
    const state = await loadReferralState(sql, leadId)
    return state === undefined ? null : { state, again }
  }
}

/** Milestones that happen once, which the workflow has seen and Temporal's histories do not hold any more. */
function seenWithout(items: readonly MilestoneItem[], known: ReferralState): MilestoneItem[] {
  const dates = { escrow_funded: known.anchor, mortgage_ready: known.endsAt && known.endsAt - LATE_FACTS_MS }
  return signalledMilestones
    .filter((name) => milestones[name].once && known.seen.includes(name))
    .filter((name) => items.every((item) => item.name !== name))
    .map((name) => {
      const at = name in dates ? dates[name as keyof typeof dates] : null
      return { name, dedupeKey: name, ...(at !== null && { at }) }
    })
}
