import { deliverWebhook } from './activities.ts'

/**
 * Sends a settled webhook once more, because its partner asks: id `resend-<event_id>`. One attempt; a 2xx makes
 * the delivery delivered, a failure changes nothing.
 */
export async function resend(leadId: number, sequence: number) {
  const summary = `webhook ${sequence} of lead ${leadId} once more`
  const { outcome } = await deliverWebhook.executeWithOptions({ summary }, [leadId, sequence, 'resend'])
  return outcome
}
