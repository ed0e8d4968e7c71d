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

interface Simulation {
  key: string
  /** The request that asked for it; none for a scenario. */
  request_id?: string
  events: { name: SignalledMilestone; gains?: ScoreGains; at?: number }[]
}

/** Simulated milestones. A signal's own id has no space, so their keys are no other's. */
export function simulatedItems({ key, request_id: requestId, events }: Simulation): MilestoneItem[] {
  return events.map(({ name, gains, at }, index) => {
    const dedupeKey = milestones[name].once ? name : `${name}: simulated ${key}:${index}`
    return {
      name,
      dedupeKey,
      simulated: true,
      ...(requestId !== undefined && { requestId }),
      ...(at !== undefined && { at }),
      ...(gains !== undefined && { gains }),
    }
  })
}
