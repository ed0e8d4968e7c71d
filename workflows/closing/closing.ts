import {
  condition,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  sleep,
} from '@temporalio/workflow'
import type { closingActivities } from '../../activities/closing/closings.ts'
import type { ClosingReview } from '../../src/capabilities/closing/decisions/closing.ts'
import { lookSignal } from '../messages.ts'
import { policies } from '../policies.ts'
import { interruptible } from '../proxies.ts'

type Activities = ReturnType<typeof closingActivities>

const { reviewClosing } = interruptible<Activities>(policies.step)
/** "Not yet" until the lead's workflow has closed it. */
const { carryOutClosing } = interruptible<Activities>(policies.polling)
/** It waits for the email for as long as that takes. */
const { tellOfClosing } = interruptible<Activities>(policies.announcement)

interface Memory {
  leadId: number
  looks: number
  telling: boolean
}

/**
 * Closes a lead on its day, unless its partner or staff cancel that: id `closing-<lead_id>`. In production, it waits until
 * the email to the partner was sent, or to staff where the partner has no contact.
 */
export async function closing(leadId: number): Promise<'over'> {
  const memory: Memory = { leadId, looks: 0, telling: false }
  setHandler(lookSignal, () => void (memory.looks += 1), {
    description: 'The record has changed: look at it',
  })
  setDefaultSignalHandler(() => {})
  for (;;) {
    const { looks } = memory
    const review = await reviewClosing(leadId)
    if (review === null) {
      // another one may have been requested since it was read
      if (memory.looks !== looks) continue
      return 'over'
    }
    setCurrentDetails(detailsOf(leadId, review))
    if (isUntold(review)) void tell(memory)
    await step(memory, review, looks)
  }
}

/** Of a lead that is closed already, nobody is told: its closing only ends. */
const isUntold = ({ isAnnounced, isTold, isClosed }: ClosingReview) => isAnnounced && !isTold && !isClosed

async function step(memory: Memory, review: ClosingReview, looks: number): Promise<void> {
  const { dueInMs, isClosed } = review
  const looked = () => memory.looks !== looks
  if (isUntold(review))
    await condition(() => looked() || !memory.telling, '1 day', { summary: 'nobody was told yet' })
  else if (dueInMs > 0 && !isClosed) await condition(looked, Math.ceil(dueInMs), { summary: 'closed then' })
  else await carryOutClosing(memory.leadId)
}

async function tell(memory: Memory): Promise<void> {
  if (memory.telling) return
  memory.telling = true
  try {
    await tellOfClosing(memory.leadId)
  } catch {
    // it is tried until it succeeds, so this is a mistake of ours
    await sleep('1 hour')
  } finally {
    memory.telling = false
  }
}

/** What an operator reads in the Temporal Web UI. */
function detailsOf(leadId: number, review: ClosingReview): string {
  const { partnerId, dueInMs } = review
  const what = `**Lead ${leadId}** of partner ${partnerId}`
  const cancel = `To prevent it: \`npm run staff -- closing cancel ${leadId}\``
  if (isUntold(review))
    return `${what} is to be closed. Partner and staff are being told by email, and it waits for that. ${cancel}`
  const at = new Date(Date.now() + dueInMs).toISOString().slice(0, 16).replace('T', ' ')
  return dueInMs > 0 ? `${what} is closed on ${at} UTC. ${cancel}` : `${what} is being closed.`
}
