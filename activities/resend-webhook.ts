import { sleep } from '@temporalio/activity'
import { again } from './activity-context.ts'
import { type DeliveryDependencies, deliverWebhookActivity } from './deliver-webhook.ts'

/** Five a second at most, one at a time: live traffic has ten at a time. */
const PACE_MS = 200
const PAUSED_MS = 15_000

/**
 * Sends a settled webhook once more, below live traffic: a success makes it delivered, a failure changes nothing. While the
 * endpoint is paused it comes back.
 */
export function resendWebhookActivity(dependencies: DeliveryDependencies) {
  const deliver = deliverWebhookActivity(dependencies)
  return async (
    leadId: number,
    sequence: number,
    trigger: 'resend' | 'replay',
  ): Promise<'delivered' | 'failed'> => {
    const [{ outcome }] = await Promise.all([deliver(leadId, sequence, trigger), sleep(PACE_MS)])
    if (outcome === 'held') throw again('the endpoint is paused: it is sent when it works', PAUSED_MS)
    return outcome === 'delivered' ? outcome : 'failed'
  }
}
