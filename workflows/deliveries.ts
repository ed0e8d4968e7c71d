import { CancellationScope, condition, isCancellation } from '@temporalio/workflow'
import type { Sent } from '../src/leads/referral-state.ts'
import { deliverWebhook, refusalOf, requestAttempt, sendOnboardingEmail, welcomeLead } from './activities.ts'
import { type Journey, note, webhookName } from './journey.ts'
import { publish } from './operator-view.ts'
import { enter } from './phases.ts'

export function isUnwelcomed({ mailed, recordChanged }: Journey): boolean {
  return !mailed && !recordChanged
}

/**
 * Sends a new lead's first webhook and the borrower's onboarding email; the email alone where the webhook is settled. If
 * that fails, `deliverNext` sends the webhook: neither waits for the other.
 */
export async function welcome(journey: Journey): Promise<void> {
  if (journey.state.next === 1) await welcomeWithWebhook(journey)
  publish(journey)
  if (!journey.mailed) await mail(journey)
}

async function welcomeWithWebhook(journey: Journey): Promise<void> {
  const { leadId, partnerId, seen } = journey.state
  const summary = 'send webhook 1, lead_received, and the onboarding email'
  enter(journey, 'webhooks', 'welcoming')
  try {
    const answer = await welcomeLead.executeWithOptions({ summary }, [leadId, partnerId])
    applySent(journey, answer)
    journey.mailed = answer.mailed
    // once: a lead that has begun to play it has more than its first milestone
    if (answer.scenario !== undefined && seen.length === 1)
      journey.scenario ??= { name: answer.scenario, key: 'address', step: 0 }
  } catch (error) {
    if (isCancellation(error) || refusalOf(error)) throw error
    note(journey, 'welcome', 'failed three times: webhook 1 and the onboarding email are tried apart')
  } finally {
    enter(journey, 'webhooks', 'idle')
  }
}

async function mail(journey: Journey): Promise<void> {
  try {
    await sendOnboardingEmail(journey.state.leadId)
  } catch (error) {
    if (isCancellation(error) || refusalOf(error)) throw error
    note(journey, 'onboarding email', 'could not be sent for 7 days: it was given up')
  }
  journey.mailed = true
}

export function hasOpenWebhook({ state, phases, recordChanged }: Journey): boolean {
  return state.next <= state.last && phases.webhooks !== 'welcoming' && !recordChanged
}

/**
 * Sends the lead's webhooks, first in, first out. The queue is two numbers, the first open one and the highest: a sequence
 * between them that was left out is answered with the next. This loop is the only scheduled sender of them.
 */
export async function deliverNext(journey: Journey): Promise<void> {
  const { state, wakes } = journey
  const { leadId, last, next } = state
  if (journey.asked) {
    const summary = `ask for webhook ${next} to be tried now`
    await requestAttempt.executeWithOptions({ summary }, [leadId, next])
    journey.asked = false
  }
  const answer = await send(journey)
  if (answer.outcome === 'given_up')
    note(
      journey,
      webhookName(journey, next),
      'given up, and the next goes out: staff delivery list shows why',
    )
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

/** Applies the end of a first attempt. */
export function applySent(journey: Journey, { delivered, failure }: Sent): void {
  if (delivered !== undefined) settleBefore(journey, delivered + 1)
  if (failure?.sequence === journey.state.next) journey.state.failure = failure
}

/** Applies the highest sequence. A record that has less than when the workflow asked went back: it is read again. */
export function applyLast(journey: Journey, last: number, asked: number): void {
  const { state } = journey
  state.last = Math.max(state.last, last)
  if (last < asked) journey.recordChanged = true
}

/** Makes `next` the first open webhook, and forgets the ones before it: they are in the record. */
function settleBefore({ state, names }: Journey, next: number): void {
  state.next = Math.max(state.next, next)
  for (const sequence of Object.keys(names)) if (Number(sequence) < state.next) delete names[Number(sequence)]
  if (state.failure !== null && state.failure.sequence < state.next) state.failure = null
}
