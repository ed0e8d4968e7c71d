import { oldestWaiting } from '../src/endpoints/review.ts'
import { type DeliveryDependencies, deliverWebhookActivity } from './deliver-webhook.ts'
import type { WakeLead } from './wake-leads.ts'

/**
 * Tries a paused endpoint with the oldest webhook that waits, under that delivery's own lease. A success resumes
 * the endpoint, in the transaction that records it; a failure changes nothing.
 */
export function probeEndpointActivity(dependencies: DeliveryDependencies & { wakeLead: WakeLead }) {
  const deliver = deliverWebhookActivity(dependencies)
  return async (endpointId: number): Promise<'nothing' | 'delivered' | 'failed'> => {
    const oldest = await oldestWaiting(dependencies.sql, endpointId)
    if (oldest === undefined) return 'nothing'
    const { outcome } = await deliver(oldest.leadId, oldest.sequence, 'probe')
    if (outcome !== 'delivered') return 'failed'
    // A lead with nothing left to send is not among those that are woken then. Nothing waits for it: a probe that failed
    // now would be repeated with another webhook.
    void dependencies.wakeLead(oldest.leadId).catch(() => undefined)
    return 'delivered'
  }
}
