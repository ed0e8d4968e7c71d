import { milestones } from '../src/core/leads/decisions/milestones.ts'
import type { MilestoneItem } from '../src/core/leads/decisions/referral.ts'
import { recordMilestones } from './activities.ts'
import { isMakingWay } from './continuing.ts'
import type { Journey } from './journey.ts'
import { enter } from './phases.ts'
import { applyOutcome, applyRecording, settledUpTo } from './standing.ts'

const BATCH = 64

export function hasNews(journey: Journey): boolean {
  return journey.inbox.length > 0 && !isMakingWay(journey)
}

/** Records what arrived, in the order in which it arrived, as many at once as there are. */
export async function recordInbox(journey: Journey): Promise<void> {
  enter(journey, 'inbox', 'recording')
  try {
    const batch = journey.inbox.slice(0, BATCH)
    const items = batch.filter((item, index) => isNews(journey, item, batch.slice(0, index)))
    const { leadId, last } = journey.state
    const recording = await recordMilestones(leadId, items, settledUpTo(journey))
    applyRecording(journey, recording, items, last)
    journey.inbox.splice(0, batch.length)
    for (const item of batch) if (!items.includes(item)) applyOutcome(journey, item, { outcome: 'repeated' })
  } finally {
    enter(journey, 'inbox', 'idle')
  }
}

/**
 * A milestone that happens once is recorded once. PostgreSQL ensures that too; this saves it a flood of repeats, unless a
 * sender waits for the event's id.
 */
function isNews(journey: Journey, item: MilestoneItem, before: MilestoneItem[]): boolean {
  const { name } = item
  if (!milestones[name].once || journey.awaited.has(item)) return true
  return !journey.state.seen.includes(name) && before.every((other) => other.name !== name)
}
