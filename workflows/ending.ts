import { allHandlersFinished, condition } from '@temporalio/workflow'
import { closeLead } from './activities.ts'
import { hasUnrecorded, type Journey, now } from './journey.ts'
import { show } from './show.ts'

/** Closes the lead in the record: when staff or an operator ask, or 30 days after mortgage_ready. */
export async function closeWhenDone(journey: Journey): Promise<void> {
  const { state } = journey
  await condition(() => !journey.closed && !journey.restored && (state.closing || state.endsAt !== null))
  if (!state.closing) {
    const { offset } = state
    const waitMs = (state.endsAt ?? 0) - now(journey)
    const changed = () => state.offset !== offset || state.closing || journey.restored
    if (waitMs > 0 && (await condition(changed, waitMs, { summary: 'late facts are taken until then' })))
      return
    journey.closeReason = 'mortgage_ready'
    state.closing = true
    show(journey)
  }
  await condition(() => !hasUnrecorded(journey) || journey.restored)
  if (journey.restored) return
  // its clock may have moved on without this workflow
  state.offset = await closeLead(state.leadId, journey.closeReason ?? 'canceled')
  journey.closed = true
}

/** Over: closed, all recorded, and nothing to send, or only what waits for a paused endpoint. */
export function isOver(journey: Journey): boolean {
  const { closed, held, state } = journey
  return closed && !hasUnrecorded(journey) && allHandlersFinished() && (state.next > state.last || held)
}
