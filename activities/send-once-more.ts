import { sleep } from '@temporalio/activity'
import { again } from './again.ts'
import { type DeliveryDependencies, deliverWebhookActivity } from './deliver-webhook.ts'

/** Five a second at most, one at a time: live traffic has ten at a time. */
const PACE_MS = 200
const PAUSED_MS = 60_000

/** Sends a marked webhook once more and takes the mark away; `held` keeps it. */
export function resendWebhookActivity(dependencies: DeliveryDependencies) {
  return sendOnceMore(dependencies, 'resend')
}

/** Sends a settled webhook once more. While the endpoint is paused it comes back every minute. */
export function replayWebhookActivity(dependencies: DeliveryDependencies) {
  const send = sendOnceMore(dependencies, 'replay')
  return async (leadId: number, sequence: number): Promise<'delivered' | 'failed'> => {
    const outcome = await send(leadId, sequence)
    if (outcome === 'held') throw again('the endpoint is paused: the replay goes on when it works', PAUSED_MS)
    return outcome
  }
}

/** One attempt, below live traffic: a success makes the webhook delivered, a failure changes nothing. */
function sendOnceMore(dependencies: DeliveryDependencies, trigger: 'resend' | 'replay') {
  const deliver = deliverWebhookActivity(dependencies)
  return async (leadId: number, sequence: number): Promise<'delivered' | 'failed' | 'held'> => {
    const [{ outcome }] = await Promise.all([deliver(leadId, sequence, trigger), sleep(PACE_MS)])
    return outcome === 'delivered' || outcome === 'held' ? outcome : 'failed'
  }
}
