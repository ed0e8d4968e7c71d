import { condition } from '@temporalio/workflow'
import { milestones } from '../src/domain/milestones.ts'
import type { MilestoneItem } from '../src/domain/referral.ts'
import { recordMilestones } from './activities.ts'
import { applyRecording, type Journey, note } from './journey.ts'

const BATCH = 64

/** Records what arrived, in the order in which it arrived, as many at once as there are. */
export async function recordInbox(journey: Journey): Promise<void> {
  await condition(() => journey.inbox.length > 0 || journey.clockMoved)
  journey.recording = true
  try {
    const batch = journey.inbox.slice(0, BATCH)
    const items = batch.filter((item, index) => isNews(journey, item, batch.slice(0, index)))
    journey.clockMoved = false
    applyRecording(journey, await recordMilestones(journey.state.leadId, items), items)
    journey.inbox.splice(0, batch.length)
  } finally {
    journey.recording = false
  }
}

/** A milestone that happens once is recorded once; a repeat is for the operator to know. */
function isNews(journey: Journey, { name }: MilestoneItem, before: MilestoneItem[]): boolean {
  if (!milestones[name].once) return true
  const known = journey.state.seen.includes(name) || before.some((item) => item.name === name)
  if (known) note(journey, name, 'already recorded: nothing changed')
  return !known
}
