import { condition, setCurrentDetails, setDefaultSignalHandler, setHandler } from '@temporalio/workflow'
import type { erasureActivities } from '../../activities/erasure/erasures.ts'
import type { ErasureReview } from '../../src/capabilities/erasure/decisions/erasure.ts'
import { lookSignal } from '../messages.ts'
import { policies } from '../policies.ts'
import { interruptible } from '../proxies.ts'

type Activities = ReturnType<typeof erasureActivities>

/** A lead that is held meanwhile is looked at again. */
const { reviewErasure, eraseLead } = interruptible<Activities>(policies.step)
/** "Not yet" while the lead's workflow runs, or a request is in flight. */
const { endLead, checkErasure } = interruptible<Activities>(policies.polling)
const { tellOfErasure: announceErasure } = interruptible<Activities>(policies.announcement)
const { tellOfErasure } = interruptible<Activities>(policies.email)

interface Memory {
  leadId: number
  looks: number
  telling: boolean
  /** The emails could not be sent for days. */
  gaveUp: boolean
}

/**
 * Erases a lead on its day, unless staff cancel that: id `erasure-<lead_id>`. Then it ends the lead's workflows, and reads
 * back what is left. In production, it waits until the email to the partner was sent, or to staff where the partner has no
 * contact; what staff erase at once, or a sandbox, does not.
 */
export async function erasure(leadId: number): Promise<'erased' | 'canceled'> {
  const memory: Memory = { leadId, looks: 0, telling: false, gaveUp: false }
  setHandler(lookSignal, () => void (memory.looks += 1), {
    description: 'The record has changed: look at it',
  })
  setDefaultSignalHandler(() => {})
  for (;;) {
    const { looks } = memory
    const review = await reviewErasure(leadId)
    if (review === null) {
      // another one may have been requested since it was read
      if (memory.looks !== looks) continue
      return 'canceled'
    }
    setCurrentDetails(detailsOf(memory, review))
    if (!review.isTold) void tell(memory, review)
    if (review.isChecked) {
      await condition(() => !memory.telling, '7 days')
      return 'erased'
    }
    await step(memory, review, looks)
  }
}

async function step(
  memory: Memory,
  { dueInMs, isHeld, isErased, isAnnounced, isTold }: ErasureReview,
  looks: number,
): Promise<void> {
  const { leadId } = memory
  const looked = () => memory.looks !== looks
  if (isErased) {
    await endLead(leadId)
    await checkErasure(leadId)
  } else if (isAnnounced && !isTold) {
    await condition(() => looked() || !memory.telling, '1 day', { summary: 'nobody was told yet' })
  } else if (dueInMs > 0) await condition(looked, Math.ceil(dueInMs), { summary: 'erased then' })
  else if (isHeld) await condition(looked, '1 day', { summary: 'the lead is held: look again' })
  else await eraseLead(leadId)
}

async function tell(memory: Memory, { isAnnounced, isErased }: ErasureReview): Promise<void> {
  if (memory.telling || memory.gaveUp) return
  memory.telling = true
  try {
    // what waits for the email is told for as long as that takes
    await (isAnnounced && !isErased ? announceErasure(memory.leadId) : tellOfErasure(memory.leadId))
  } catch {
    memory.gaveUp = true
  } finally {
    memory.telling = false
  }
}

/** What an operator reads in the Temporal Web UI. */
function detailsOf({ leadId }: Memory, review: ErasureReview): string {
  const { partnerId, dueInMs, isHeld, isErased, isChecked, isAnnounced, isTold } = review
  const what = `The personal data of **lead ${leadId}** of partner ${partnerId}`
  const at = new Date(Date.now() + dueInMs).toISOString().slice(0, 16).replace('T', ' ')
  const held = isHeld ? ' The lead is **held**, which prevents it.' : ''
  const certificate = `\`npm run staff -- erasure show ${leadId}\``
  if (isChecked) return `${what} is erased. Certificate: ${certificate}`
  if (isErased) return `${what} is erased. Its workflows end, and what is left is counted.`
  if (isAnnounced && !isTold)
    return `${what} is to be erased. Partner and staff are being told by email, and it waits for that.${held} To prevent it: \`npm run staff -- erasure cancel ${leadId}\``
  if (dueInMs > 0)
    return `${what} is erased on ${at} UTC.${held} To prevent it: \`npm run staff -- erasure cancel ${leadId}\``
  return `${what} is to be erased now.${held}`
}
