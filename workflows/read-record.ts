import { isMocked, type MilestoneItem, OTHER_LEAD, UNREAD } from '../src/leads/referral-state.ts'
import { readRecord, leadRefusalOf } from './activities.ts'
import { type Journey, note } from './journey.ts'
import { applyOutcome } from './recording.ts'

/**
 * Continues with the record's state, before anything else in a run. The record may have been restored, or changed without
 * this workflow. Milestones that are not recorded yet are kept; recorded ones that the record has lost are recorded again.
 */
export async function takeRecord(journey: Journey): Promise<void> {
  // before the read: a signal that arrives during it causes another one
  journey.recordChanged = false
  const { recent } = journey
  const keys = recent.map(({ dedupeKey }) => dedupeKey)
  const summary = 'read the record'
  const { state, lost } = await readRecord.executeWithOptions({ summary }, [journey.state.leadId, keys])
  const { closing, ...read } = state
  // a close that was requested stays, though the record lost it
  journey.phases.lead = closing || journey.phases.lead !== 'open' ? 'closing' : 'open'
  Object.assign(journey.state, read)
  recordAgain(
    journey,
    recent.filter(({ dedupeKey }) => lost.includes(dedupeKey)),
  )
}

function recordAgain(journey: Journey, items: MilestoneItem[]): void {
  if (items.length === 0) return
  const needsGains = (item: MilestoneItem) =>
    item.name === 'score_update' && item.gains === undefined && !isMocked(item)
  journey.recent = journey.recent.filter((item) => !items.includes(item))
  journey.inbox.unshift(...items.filter((item) => !needsGains(item)))
  journey.unscored.unshift(...items.filter(needsGains))
  journey.counts.recorded -= items.length
  const what = items.length === 1 ? 'a milestone is' : `${items.length} milestones are`
  note(journey, 'record', `went back: ${what} recorded again, as another event`)
}

/** Acts on the refusal of an activity. @returns false for any other error. */
export function heedRefusal(journey: Journey, error: unknown): boolean {
  const refusal = leadRefusalOf(error)
  if (refusal === OTHER_LEAD) leave(journey)
  if (refusal === UNREAD) journey.recordChanged = true
  return refusal !== undefined
}

/** The lead is not in the record any more: another one, or none, has its id. */
function leave(journey: Journey): void {
  const { state, inbox, unscored } = journey
  for (const item of [...inbox, ...unscored]) applyOutcome(journey, item, { outcome: 'closed' })
  Object.assign(journey, { inbox: [], unscored: [], recordChanged: false, mailed: true })
  state.next = state.last + 1
  journey.closeReason = 'not in the record'
  journey.phases.lead = 'closed'
  note(journey, 'record', 'does not have the lead any more: it was restored')
}
