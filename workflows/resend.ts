import {
  makeContinueAsNewFunc,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import { type Activities, listResends, resendWebhook } from './activities.ts'
import { askedSignal } from './messages.ts'

/** How many resends succeeded and failed: all that a run hands to the next. */
export interface ResendProgress {
  delivered: number
  failed: number
}

/**
 * Sends a partner's marked webhooks once more, one after the other: id `resend-<partner_id>`, until no mark is left or
 * the endpoint is paused. Each mark in PostgreSQL is removed when its attempt has ended. The sweep restarts this workflow
 * for later marks.
 */
export async function resend(
  partnerId: number,
  progress: ResendProgress = { delivered: 0, failed: 0 },
): Promise<ResendProgress> {
  let asked = 0
  setHandler(askedSignal, () => void (asked += 1), { description: 'More was asked for: look at the record' })
  setDefaultSignalHandler(() => {})
  for (;;) {
    const askedBefore = asked
    const waiting = await listResends(partnerId)
    if (waiting.total === 0 && asked === askedBefore) return progress
    // paused: the marks stay in the record, and the sweep starts this workflow when the endpoint works again
    if (!(await sendAll(partnerId, waiting, progress))) return progress
    if (workflowInfo().continueAsNewSuggested)
      await makeContinueAsNewFunc<typeof resend>()(partnerId, progress)
  }
}

type Waiting = Awaited<ReturnType<Activities['listResends']>>

/** Returns false once the endpoint is paused. */
async function sendAll(partnerId: number, waiting: Waiting, progress: ResendProgress): Promise<boolean> {
  for (const [sent, { leadId, sequence }] of waiting.webhooks.entries()) {
    setCurrentDetails(detailsOf(partnerId, progress, waiting.total - sent))
    const summary = `webhook ${sequence} of lead ${leadId}`
    const outcome = await resendWebhook.executeWithOptions({ summary }, [leadId, sequence])
    if (outcome === 'held') return false
    progress[outcome] += 1
  }
  return true
}

/** What an operator reads in the Temporal Web UI. */
function detailsOf(partnerId: number, { delivered, failed }: ResendProgress, waiting: number): string {
  return [
    `Webhooks that **partner ${partnerId}** or staff asked to be sent once more: **${waiting}** wait.`,
    '',
    `- Delivered: ${delivered}; failed: ${failed}`,
    '',
    'They are marked in PostgreSQL: canceled or terminated, this workflow is started again. Pause the endpoint to hold them.',
  ].join('\n')
}
