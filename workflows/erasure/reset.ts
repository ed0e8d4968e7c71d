import {
  makeContinueAsNewFunc,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import type { resetActivities } from '../../activities/erasure/resets.ts'
import {
  afterPage,
  RESET_BEGINS,
  type ResetProgress,
  type ResetReview,
} from '../../src/capabilities/erasure/decisions/reset.ts'
import { lookSignal } from '../messages.ts'
import { policies } from '../policies.ts'
import { interruptible } from '../proxies.ts'

type Activities = ReturnType<typeof resetActivities>

const { reviewReset, eraseForReset, finishReset } = interruptible<Activities>(policies.step)
/** "Not yet" while workflows of leads run, or a request is in flight. */
const { checkForReset } = interruptible<Activities>(policies.polling)

/**
 * Erases the leads of a partner that begins again, in a sandbox: id `reset-<partner_id>`. PostgreSQL knows which are left:
 * canceled or terminated, it is started again until none is.
 */
export async function reset(partnerId: number, from = RESET_BEGINS): Promise<'done'> {
  let looks = 0
  setHandler(lookSignal, () => void (looks += 1), { description: 'The record has changed: look at it' })
  setDefaultSignalHandler(() => {})
  for (let progress = from; ;) {
    const seen = looks
    const review = await reviewReset(partnerId)
    if (review !== null) {
      setCurrentDetails(detailsOf(partnerId, review))
      progress = await take(partnerId, progress)
    } else if (looks === seen) {
      setCurrentDetails(`Partner ${partnerId} began again: all its leads from before are erased.`)
      return 'done'
    }
    if (workflowInfo().continueAsNewSuggested)
      await makeContinueAsNewFunc<typeof reset>()(partnerId, progress)
  }
}

async function take(partnerId: number, progress: ResetProgress): Promise<ResetProgress> {
  const { step, after } = progress
  if (step === 'erase') return afterPage(progress, await eraseForReset(partnerId, after))
  if (step === 'check') return afterPage(progress, await checkForReset(partnerId, after))
  await finishReset(partnerId)
  return RESET_BEGINS
}

/** What an operator reads in the Temporal Web UI. */
const detailsOf = (partnerId: number, { leads, left }: ResetReview) =>
  `**Partner ${partnerId}** begins again: its ${leads} leads from before are being erased, and ${left} are left. Canceled or terminated, this workflow is started again until none is.`
