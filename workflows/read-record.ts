import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow'
import { OTHER_LEAD, UNREAD } from '../src/leads/referral-state.ts'
import { readRecord } from './activities.ts'
import { close, type Journey, note } from './journey.ts'
import { enter } from './phases.ts'
import { applyOutcome } from './standing.ts'

/**
 * Goes on with what the record has, which may have been restored, or changed without this workflow. What arrived and is not
 * recorded yet is kept; of what this workflow has recorded, the record may lack some, which is recorded again. A run does
 * it before anything else.
 */
export async function takeRecord(journey: Journey): Promise<void> {
  // one more signal meanwhile, and it is read once more
  journey.recordChanged = false
  const { recent } = journey
  const { state, lost } = await readRecord(
    journey.state.leadId,
    recent.map(({ dedupeKey }) => dedupeKey),
  )
  const { closing, ...read } = state
  // requests of people stay; the record says when the lead ends by itself
  const endsByItself = journey.closeReason === 'mortgage_ready'
  if (endsByItself) journey.closeReason = null
  const isAsked = journey.phases.lead === 'closing' && !endsByItself
  Object.assign(journey.state, read)
  journey.names = {}
  enter(journey, 'lead', 'open')
  if (closing || isAsked) close(journey)
  const again = recent.filter(({ dedupeKey }) => lost.includes(dedupeKey))
  if (again.length === 0) return
  const isUnscored = ({ name, gains, simulated }: (typeof again)[number]) =>
    name === 'score_update' && !gains && !simulated
  journey.recent = recent.filter((item) => !again.includes(item))
  journey.inbox.unshift(...again.filter((item) => !isUnscored(item)))
  journey.unscored.unshift(...again.filter(isUnscored))
  journey.counts.recorded -= again.length
  const what = again.length === 1 ? 'a milestone is' : `${again.length} milestones are`
  note(journey, 'record', `went back: ${what} recorded again, as another event`)
}

/** The lead is not in the record any more: another one, or none, has its id. */
function leave(journey: Journey): void {
  const { state, inbox, unscored } = journey
  for (const item of [...inbox, ...unscored]) applyOutcome(journey, item, { outcome: 'closed' })
  journey.inbox = []
  journey.unscored = []
  journey.recordChanged = false
  state.next = state.last + 1
  journey.closeReason = 'not in the record'
  enter(journey, 'lead', 'closed')
  note(journey, 'record', 'does not have the lead any more: it was restored')
}

/** Which activity was refused because of the lead, not of itself: the type of that; `undefined` for any other error. */
export function refusalOf(error: unknown): typeof OTHER_LEAD | typeof UNREAD | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : undefined
  const type = cause instanceof ApplicationFailure ? cause.type : undefined
  return type === OTHER_LEAD || type === UNREAD ? type : undefined
}

/** Does what a refusal asks for. @returns false for any other error. */
export function heedRefusal(journey: Journey, error: unknown): boolean {
  const refusal = refusalOf(error)
  if (refusal === OTHER_LEAD) leave(journey)
  if (refusal === UNREAD) journey.recordChanged = journey.unread = true
  return refusal !== undefined
}
