import type { ScoreGains } from './event-payloads.ts'
import { milestones, type SignalledMilestone } from './milestones.ts'
import type { MilestoneItem } from './referral.ts'

/** The most milestones that one request simulates. */
export const MOST_SIMULATED = 50

/** The key under which a milestone counts once: `unique` gives one that repeats and has no id its own. */
export function milestoneKey(
  name: SignalledMilestone,
  id: string | undefined,
  unique: (name: SignalledMilestone) => string,
): string {
  if (milestones[name].once) return name
  return id === undefined ? unique(name) : `${name}:${id}`
}

/** The key of a lead's nth milestone that has no other, through all runs of its workflow. */
export function numberedKey(name: SignalledMilestone, firstRunId: string, number: number): string {
  return `${name}@${firstRunId}:${number}`
}

/** A simulated milestone. A signal's own id has no space, so its key is no other's. */
export function simulatedItem(
  { name, gains }: { name: SignalledMilestone; gains?: ScoreGains },
  key: string,
  index: number,
): MilestoneItem {
  const dedupeKey = milestones[name].once ? name : `${name}: simulated ${key}:${index}`
  if (name !== 'score_update') return { name, dedupeKey }
  return gains === undefined ? { name, dedupeKey, mock: true } : { name, dedupeKey, gains }
}
