import {
  CancellationScope,
  defineQuery,
  isCancellation,
  makeContinueAsNewFunc,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import { type Asked, MOST_RESENDS } from '../src/deliveries/delivery-states.ts'
import { forgetAsked, resendWebhook } from './activities.ts'

export interface Progress {
  delivered: number
  failed: number
  /** `MOST_RESENDS` or more, if it is that. */
  waiting: number
}

const progressQuery = defineQuery<Progress>('progress')

/**
 * Sends a partner's settled webhooks that are marked in the record once more, one after the other: id `resend-<partner_id>`
 * for those that are asked for one by one, and `replay-<partner_id>` for what staff chose by a filter. Cancel it to stop it.
 */
export async function resend(
  partnerId: number,
  asked: Asked,
  progress: Progress = { delivered: 0, failed: 0, waiting: 0 },
): Promise<Progress> {
  let isToLook = true
  setHandler(progressQuery, () => progress, { description: 'How many were sent, and how many wait' })
  // more may have been marked
  setDefaultSignalHandler(() => void (isToLook = true))
  try {
    while (isToLook) {
      isToLook = false
      const sent = await resendWebhook(partnerId, asked)
      if (sent === undefined) continue
      isToLook = true
      progress[sent.outcome] += 1
      progress.waiting = sent.waiting
      setCurrentDetails(detailsOf(partnerId, asked, progress))
      if (workflowInfo().continueAsNewSuggested)
        await makeContinueAsNewFunc<typeof resend>()(partnerId, asked, progress)
    }
    return progress
  } catch (error) {
    if (isCancellation(error))
      await CancellationScope.nonCancellable(async () => forgetAsked(partnerId, asked))
    throw error
  }
}

/** What an operator reads in the Temporal Web UI. */
function detailsOf(partnerId: number, asked: Asked, { delivered, failed, waiting }: Progress): string {
  const what =
    asked === 'replay'
      ? `Replay of **partner ${partnerId}**, by staff`
      : `Webhooks that **partner ${partnerId}** or staff asked to be sent once more`
  const howMany = waiting < MOST_RESENDS ? waiting : `${waiting} or more`
  const advice = 'Request its cancellation to stop it; pause the endpoint to hold it.'
  return [`${what}: **${howMany}** wait.`, `Delivered: ${delivered}; failed: ${failed}`, advice].join('\n\n')
}
