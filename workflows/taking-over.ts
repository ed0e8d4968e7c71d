import { condition, setHandler, workflowInfo } from '@temporalio/workflow'
import { isTimed, type TakenOver } from '../src/core/leads/decisions/referral.ts'
import { takeOverRecord } from './activities.ts'
import { close, type Journey, note, stateOf, wake } from './journey.ts'
import { takeOverUpdate } from './messages.ts'
import { enter } from './phases.ts'
import { applyOutcome } from './standing.ts'

/** The service tells every workflow that may know more than the record, once that was restored. */
export function receiveRestores(journey: Journey): void {
  setHandler(
    takeOverUpdate,
    async () => {
      journey.messages += 2
      enter(journey, 'record', 'restored')
      await condition(() => journey.phases.record === 'known')
    },
    {
      description: 'From the service itself: the record was restored, and is to be gone on with. No argument',
    },
  )
}

/** Not while a batch is recorded or the first webhook is sent: what they continue with would be replaced. */
export function isToTakeOver({ phases }: Journey): boolean {
  return phases.inbox === 'idle' && phases.webhooks !== 'welcoming'
}

/**
 * Goes on with what the record has, after that went back: this workflow may have seen milestones, and webhooks that were
 * sent, of which the record knows nothing. What arrived and is not recorded yet is kept.
 */
export async function takeOver(journey: Journey): Promise<void> {
  const taken = await takeOverRecord(stateOf(journey), workflowInfo().startTime.getTime())
  if (taken === null) leave(journey)
  else goOn(journey, taken)
  // what it waits for may be another webhook now
  wake(journey)
  enter(journey, 'record', 'known')
}

function goOn(journey: Journey, { state: { closing, ...state }, again }: NonNullable<TakenOver>): void {
  // requests of people stay; the record says when the lead ends by itself
  const endsByItself = journey.closeReason === 'mortgage_ready'
  if (endsByItself) journey.closeReason = null
  const isAsked = journey.phases.lead !== 'open' && !endsByItself
  Object.assign(journey.state, state)
  enter(journey, 'lead', 'open')
  if (closing || isAsked) close(journey)
  journey.names = {}
  const unscored = again.filter(
    ({ name, gains, simulated }) => name === 'score_update' && !gains && !simulated,
  )
  journey.inbox.unshift(...again.filter((item) => !unscored.includes(item)))
  journey.unscored.unshift(...unscored)
  const { counts } = journey
  counts.recorded = Math.max(0, counts.recorded - again.filter((item) => !isTimed(item)).length)
  const count = `${again.length} ${again.length === 1 ? 'milestone is' : 'milestones are'} recorded again`
  note(journey, 'record', `was restored: ${again.length === 0 ? 'nothing of the lead was lost' : count}`)
}

/** The lead was lost with its record: its partner has to send it again. */
function leave(journey: Journey): void {
  const { state, inbox, unscored } = journey
  for (const item of [...inbox, ...unscored]) applyOutcome(journey, item, { outcome: 'closed' })
  journey.inbox = []
  journey.unscored = []
  state.next = state.last + 1
  journey.closeReason = 'not in the record'
  enter(journey, 'lead', 'closed')
  note(journey, 'record', 'was restored, and does not have the lead any more: staff record show lists it')
}
