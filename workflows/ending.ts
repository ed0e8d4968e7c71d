import { allHandlersFinished, condition } from '@temporalio/workflow'
import { closeLead } from './activities.ts'
import { close, hasUnrecorded, type Journey, now } from './journey.ts'
import { enter } from './phases.ts'
import { publish } from './publish.ts'
import { dropsOut } from './sandbox/scenario.ts'

/** Whether the lead closes now, or on a known date. */
export function isToClose({ state, phases }: Journey): boolean {
  return phases.lead === 'closing' || (phases.lead === 'open' && state.endsAt !== null)
}

/** Closes the lead in the record: when staff or an operator ask, or 30 days after mortgage_ready. */
export async function closeWhenDone(journey: Journey): Promise<void> {
  const { state } = journey
  if (journey.phases.lead === 'open') {
    const { offset } = state
    const waitMs = (state.endsAt ?? 0) - now(journey)
    const changed = () => state.offset !== offset || journey.phases.lead !== 'open'
    if (waitMs > 0 && (await condition(changed, waitMs, { summary: 'late facts are taken until then' })))
      return
    close(journey, 'mortgage_ready')
    publish(journey)
  }
  await condition(() => !hasUnrecorded(journey))
  // its clock may have moved on without this workflow
  state.offset = await closeLead(state.leadId, journey.closeReason ?? 'canceled', dropsOut(journey))
  enter(journey, 'lead', 'closed')
}

/** Over: closed, all recorded, and nothing to send, or only what waits for a paused endpoint. */
export function isOver(journey: Journey): boolean {
  const { phases, state } = journey
  const isBusy = hasUnrecorded(journey) || journey.recordChanged || !allHandlersFinished()
  if (phases.lead !== 'closed' || isBusy) return false
  return state.next > state.last || phases.webhooks === 'held'
}
