import { sleep } from '@temporalio/activity'
import { type DeliveryDependencies, deliverWebhookActivity } from './deliver-webhook.ts'

/** Five a second at most, one at a time: live traffic has ten at a time. */
const PACE_MS = 200

/**
 * Sends one settled webhook once more, below live traffic: one attempt; a success makes it delivered, a failure
 * changes nothing.
 */
export function deliverOnceMore(dependencies: DeliveryDependencies, trigger: 'resend' | 'replay') {
  const deliver = deliverWebhookActivity(dependencies)
  return async (leadId: number, sequence: number): Promise<'delivered' | 'failed' | 'held'> => {
    const [{ outcome }] = await Promise.all([deliver(leadId, sequence, trigger), sleep(PACE_MS)])
    return outcome === 'delivered' || outcome === 'held' ? outcome : 'failed'
  }
}
