import { CancellationScope, condition } from '@temporalio/workflow'
import { deliverWebhook, gaveUp, sendOnboardingEmail, welcomeLead } from './activities.ts'
import { type Journey, note } from './journey.ts'
import { publish } from './operator-view.ts'

export function isUnwelcomed({ mailed, recordChanged }: Journey): boolean {
  return !mailed && !recordChanged
}

/**
 * Sends a new lead's first webhook and the borrower's onboarding email; the email alone where the webhook is settled. What
 * does not succeed at once is left to `deliverNext` and to an activity for the email: neither waits for the other.
 */
export async function welcome(journey: Journey): Promise<void> {
  const { phases, state } = journey
  const { leadId, partnerId, seen } = state
  if (state.next === 1) {
    phases.webhooks = 'welcoming'
    try {
      const summary = 'send webhook 1, lead_received, and the onboarding email'
      const answer = await welcomeLead.executeWithOptions({ summary }, [leadId, partnerId])
      if (answer.delivered) settleBefore(journey, 2)
      journey.mailed = answer.mailed
      // once: a lead that has begun to play it has more than its first milestone
      if (answer.scenario !== undefined && seen.length === 1)
        journey.scenario ??= { name: answer.scenario, key: 'address', step: 0 }
    } finally {
      phases.webhooks = 'idle'
    }
    publish(journey)
  }
  if (!journey.mailed) await mail(journey)
}

async function mail(journey: Journey): Promise<void> {
  try {
    await sendOnboardingEmail(journey.state.leadId)
  } catch (error) {
    if (!gaveUp(error)) throw error
    note(journey, 'onboarding email', 'could not be sent for 7 days: it was given up')
  }
  journey.mailed = true
}

export function hasOpenWebhook({ state, phases, recordChanged }: Journey): boolean {
  return state.next <= state.last && phases.webhooks !== 'welcoming' && !recordChanged
}

/**
 * Sends the lead's webhooks, first in, first out. The queue is two sequences, the first open one and the highest: for a
 * canceled one between them, the activity returns the next. This loop is their only scheduled sender.
 */
export async function deliverNext(journey: Journey): Promise<void> {
  const { state, phases, wakes } = journey
  const { last, next } = state
  const answer = await send(journey)
  if (answer.outcome === 'given_up')
    note(journey, `webhook ${next}`, 'given up, and the next one is sent: delivery list shows why')
  state.last = Math.max(state.last, answer.last)
  settleBefore(journey, answer.next)
  if (answer.outcome !== 'held') return
  phases.webhooks = 'held'
  publish(journey)
  await condition(() => journey.wakes !== wakes || state.last > last)
  phases.webhooks = 'idle'
}

async function send(journey: Journey) {
  const { state, phases } = journey
  const { leadId, partnerId, next } = state
  const summary = `send webhook ${next}`
  journey.sending = new CancellationScope()
  phases.webhooks = 'sending'
  try {
    return await journey.sending.run(() =>
      deliverWebhook.executeWithOptions({ summary }, [leadId, partnerId, next]),
    )
  } finally {
    journey.sending = undefined
    phases.webhooks = 'idle'
  }
}

/** Makes `next` the first open webhook. */
export function settleBefore({ state }: Journey, next: number): void {
  state.next = Math.max(state.next, next)
  if (state.failure !== null && state.failure.sequence < state.next) state.failure = null
}
