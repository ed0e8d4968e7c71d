import { CancellationScope, condition } from '@temporalio/workflow'
import { deliverWebhook } from './activities.ts'
import type { Journey } from './journey.ts'

/**
 * Sends the lead's webhooks, first in, first out. The queue is two numbers, because sequences have no gaps:
 * the first open one and the highest. This loop is the only scheduled sender of them.
 */
export async function deliverNext(journey: Journey): Promise<void> {
  const { state } = journey
  await condition(() => state.next <= state.last)
  const { wakes } = journey
  const { last } = state
  const answer = await send(journey)
  state.next = answer.next
  state.last = Math.max(state.last, answer.last)
  journey.names = new Map([...journey.names].filter(([sequence]) => sequence >= state.next))
  if (answer.outcome !== 'parked') return
  journey.parked = true
  await condition(() => journey.wakes !== wakes || state.last > last)
  journey.parked = false
}

async function send(journey: Journey) {
  const { leadId, next } = journey.state
  const summary = `webhook ${next} ${journey.names.get(next) ?? ''}`.trimEnd()
  journey.sending = new CancellationScope()
  try {
    return await journey.sending.run(() =>
      deliverWebhook.executeWithOptions({ summary }, [leadId, next, 'scheduled']),
    )
  } finally {
    journey.sending = undefined
  }
}
