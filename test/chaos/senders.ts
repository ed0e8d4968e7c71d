import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import type { LeadJournal, SentMilestone } from './evidence.ts'
import { factOf } from './load-plan.ts'

const LIMIT_MS = 8000
const FIRST_PAUSE_MS = 300
const LONGEST_PAUSE_MS = 5000

/** The pause of a well-behaved client after its `number`th try: twice as long each time, up to five seconds. */
export async function pauseAfter(number: number): Promise<void> {
  await delay(Math.min(FIRST_PAUSE_MS * 2 ** (number - 1), LONGEST_PAUSE_MS))
}

/**
 * An upstream system that sends a lead its milestones, one after the other, each until Temporal acknowledges it: as
 * signals, and as updates, which are acknowledged once they are recorded.
 */
export function createSender(client: Client, signal: AbortSignal) {
  async function send({ leadId }: LeadJournal, { name, id, gains, way }: SentMilestone, updateId: string) {
    const handle = client.workflow.getHandle(`lead-${leadId}`)
    const argument = { ...(id !== undefined && { id }), ...(gains && { event_payload: gains }) }
    return client.withDeadline(Date.now() + LIMIT_MS, async () => {
      if (way === 'signal') return handle.signal(name, argument)
      return handle.executeUpdate('milestone', { args: [{ name, ...argument }], updateId })
    })
  }

  async function untilAcknowledged(lead: LeadJournal, sent: SentMilestone, updateId: string): Promise<void> {
    for (let number = 1; !signal.aborted && !lead.isLost; number += 1) {
      sent.tries += 1
      try {
        const answer = await send(lead, sent, updateId)
        if (answer !== undefined) sent.answers.push(answer as SentMilestone['answers'][number])
        sent.acknowledgedAt ??= performance.now()
        return
      } catch (error) {
        const { name, message, cause } = error as Error
        sent.lastError = `${name}: ${message}: ${cause instanceof Error ? cause.message : ''}`
        await pauseAfter(number)
      }
    }
  }

  return async (lead: LeadJournal, sent: SentMilestone): Promise<void> => {
    // Temporal answers two updates of the same id once
    const updateId = factOf(sent)
    await untilAcknowledged(lead, sent, updateId)
    if (sent.twice) await untilAcknowledged(lead, sent, `${updateId}-again`)
  }
}
