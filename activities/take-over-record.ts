import { raiseGeneration } from '../src/core/record/statements/generation.ts'
import { addLostLead, addLostMilestones } from '../src/core/record/statements/losses.ts'
import { findLifeOf, recordedAmong } from '../src/core/leads/statements/recorded-among.ts'
import { loadReferralState } from '../src/core/leads/statements/referral-states.ts'
import type { Sql } from '../src/core/database/orm.ts'
import { milestones, signalledMilestones } from '../src/core/leads/decisions/milestones.ts'
import { SKEW_MS } from '../src/core/record/decisions/restore.ts'
import {
  isTimed,
  type MilestoneItem,
  type ReferralState,
  type TakenOver,
} from '../src/core/leads/decisions/referral.ts'
import { readyOf } from '../src/core/leads/decisions/score-dates.ts'

interface Dependencies {
  sql: Sql
  /** What Temporal's histories say was recorded of a lead, in its order. */
  recordedBefore: (leadId: number, createdAt: Date) => Promise<MilestoneItem[]>
}

/**
 * What a lead's workflow continues with after the record went back: the state that the record has, and the milestones that
 * it has lost. Lists what is lost. Repeated, it answers the same.
 *
 * @param began when the workflow began, in milliseconds.
 */
export function takeOverRecordActivity({ sql, recordedBefore }: Dependencies) {
  /** Milestones that were recorded and are lost, and whether what an activity has answered with is among them. */
  async function findLost(known: ReferralState, createdAt: Date) {
    const { leadId } = known
    const before = await recordedBefore(leadId, createdAt)
    const items = [...before, ...seenWithout(before, known)]
    const keys = items.map(({ dedupeKey }) => dedupeKey)
    const there = await recordedAmong(sql, leadId, keys)
    const isLost = ({ dedupeKey }: MilestoneItem) => !there.has(dedupeKey)
    return { lost: items.filter(isLost), isProven: before.some(isLost) }
  }

  return async (known: ReferralState, began: number): Promise<TakenOver> => {
    const { leadId, partnerId, generation } = known
    const life = await findLifeOf(sql, leadId)
    if (life === undefined) {
      await addLostLead(sql, leadId, partnerId)
      return null
    }
    const again: MilestoneItem[] = []
    const { createdAt, isErased } = life
    // an erased lead takes no more milestones; else it is the workflow of another lead, lost, that had the same id
    if (!isErased && began >= createdAt.getTime() - SKEW_MS) {
      const { lost, isProven } = await findLost(known, createdAt)
      if (isProven) await sql.transaction().execute((trx) => raiseGeneration(trx, 'workflow', generation))
      // the timer's score updates come by themselves, from what the record has
      again.push(...lost.filter((item) => !isTimed(item)))
      await addLostMilestones(sql, leadId, partnerId, again)
    }
    const state = await loadReferralState(sql, leadId)
    return state === undefined ? null : { state, again }
  }
}

/** Milestones that happen once, which the workflow has seen and Temporal's histories do not hold any more. */
function seenWithout(items: readonly MilestoneItem[], known: ReferralState): MilestoneItem[] {
  const dates = { escrow_funded: known.anchor, mortgage_ready: readyOf(known.endsAt) }
  return signalledMilestones
    .filter((name) => milestones[name].once && known.seen.includes(name))
    .filter((name) => items.every((item) => item.name !== name))
    .map((name) => {
      const at = name in dates ? dates[name as keyof typeof dates] : null
      return { name, dedupeKey: name, ...(at !== null && { at }) }
    })
}
