import type { Client } from '@temporalio/client'
import type { SentMilestone } from './evidence.ts'
import { factOf } from './facts.ts'
import type { PlannedMilestone } from './load-plan.ts'
import { pauseAfter } from './patience.ts'

const LIMIT_MS = 8000

/**
 * An upstream system that sends a lead its milestones, one after the other, each until Temporal acknowledges it: as
 * signals, and as updates, which are acknowledged once they are recorded.
 */
export function createSender(client: Client, signal: AbortSignal) {
  async function send(leadId: number, { name, id, gains, way }: SentMilestone, updateId: string) {
    const handle = client.workflow.getHandle(`lead-${leadId}`)
    const argument = { ...(id !== undefined && { id }), ...(gains && { event_payload: gains }) }
    return client.withDeadline(Date.now() + LIMIT_MS, async () => {
      if (way === 'signal') return handle.signal(name, argument)
      return handle.executeUpdate('milestone', { args: [{ name, ...argument }], updateId })
    })
  }

  /** @returns whether it was acknowledged. */
  async function untilAcknowledged(leadId: number, sent: SentMilestone, updateId: string): Promise<boolean> {
    for (let number = 1; !signal.aborted; number += 1) {
      sent.tries += 1
      try {
        const answer = await send(leadId, sent, updateId)
        if (answer !== undefined) sent.answers.push(answer as SentMilestone['answers'][number])
        sent.acknowledgedAt ??= performance.now()
        return true
      } catch (error) {
        sent.lastError = describe(error)
        await pauseAfter(number)
      }
    }
    return false
  }

  return async (leadId: number, planned: PlannedMilestone, sent: SentMilestone): Promise<void> => {
    // Temporal answers two updates of the same id once
    const updateId = factOf(sent)
    const acknowledged = await untilAcknowledged(leadId, sent, updateId)
    if (acknowledged && planned.twice) await untilAcknowledged(leadId, sent, `${updateId}-again`)
  }
}

function describe(error: unknown): string {
  const { name, message, cause } = error as Error
  return `${name}: ${message}${cause instanceof Error ? `: ${cause.message}` : ''}`
}
