import { CancellationScope, condition } from '@temporalio/workflow'
import { deliverWebhook, requestAttempt } from './activities.ts'
import { type Journey, note, webhookName } from './journey.ts'
import { enter } from './phases.ts'
import { publish } from './operator-view.ts'
import { applyLast, settleBefore } from './standing.ts'

export function hasOpenWebhook({ state, phases, recordChanged }: Journey): boolean {
  return state.next <= state.last && phases.webhooks !== 'welcoming' && !recordChanged
}

/**
 * Sends the lead's webhooks, first in, first out. The queue is two numbers, the first open one and the highest: a sequence
 * between them that was left out is answered with the next. This loop is the only scheduled sender of them.
 */
export async function deliverNext(journey: Journey): Promise<void> {
  const { state, wakes } = journey
  const { last, next } = state
  if (journey.asked) {
    await requestAttempt(state.leadId, next)
    journey.asked = false
  }
  const answer = await send(journey)
  if (answer.outcome === 'given_up') {
    note(
      journey,
      webhookName(journey, next),
      `given up, and the next goes out: staff delivery list shows why`,
    )
  }
  applyLast(journey, answer.last, last)
  settleBefore(journey, answer.next)
  if (answer.outcome !== 'held') return
  enter(journey, 'webhooks', 'held')
  publish(journey)
  await condition(() => journey.wakes !== wakes || state.last > last)
  enter(journey, 'webhooks', 'idle')
}

async function send(journey: Journey) {
  const { leadId, next } = journey.state
  const summary = `send ${webhookName(journey, next)}`
  journey.sending = new CancellationScope()
  enter(journey, 'webhooks', 'sending')
  try {
    return await journey.sending.run(() =>
      deliverWebhook.executeWithOptions({ summary }, [leadId, next, 'scheduled']),
    )
  } finally {
    journey.sending = undefined
    enter(journey, 'webhooks', 'idle')
  }
}
