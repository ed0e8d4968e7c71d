import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client'
import { resendUpdate, sendNowSignal, type Webhook } from '../../../../workflows/messages.ts'
import type { resend as resendWorkflow, Resends } from '../../../../workflows/resend.ts'
import type { Referrals } from '../../leads/workflows/referrals.ts'
import { inBatches } from '../../temporal/in-batches.ts'
import { replayId, resendId, TASK_QUEUE } from '../../temporal/names.ts'
import type { findDelivery } from '../statements/resend.ts'
import type { ReplayFilter } from '../statements/replays.ts'

const CALL_LIMIT_MS = 10_000
const nothing: Resends = { delivered: 0, failed: 0, waiting: [] }

/** The one way in which settled webhooks are sent once more. */
export function createResends(client: Client) {
  const limited = <Result>(call: () => Promise<Result>) =>
    client.withDeadline(Date.now() + CALL_LIMIT_MS, call)

  const optionsOf = (workflowId: string, partnerId: number, resends: Resends, staticSummary: string) => ({
    workflowId,
    taskQueue: TASK_QUEUE,
    args: [partnerId, resends] as Parameters<typeof resendWorkflow>,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary,
  })

  return {
    /** Adds to those of a partner that wait. @returns which of them are too many. */
    async add(partnerId: number, webhooks: Webhook[]): Promise<Webhook[]> {
      const startWorkflowOperation = new WithStartWorkflowOperation<typeof resendWorkflow>('resend', {
        ...optionsOf(resendId(partnerId), partnerId, nothing, `Resends of partner ${partnerId}`),
        workflowIdConflictPolicy: 'USE_EXISTING',
      })
      const options = { args: [webhooks] as [Webhook[]], startWorkflowOperation }
      return limited(() => client.workflow.executeUpdateWithStart(resendUpdate, options))
    },

    /** Sends what a filter finds. @returns the workflow's id; `undefined` when a replay of this partner is under way. */
    async replay(filter: ReplayFilter, total: number): Promise<string | undefined> {
      const { partnerId } = filter
      const workflowId = replayId(partnerId)
      const resends = { ...nothing, replay: { filter, total, at: { leadId: 0, sequence: 0 } } }
      const summary = `Replay of partner ${partnerId}: ${total} webhooks`
      const options = {
        ...optionsOf(workflowId, partnerId, resends, summary),
        workflowIdConflictPolicy: 'FAIL' as const,
      }
      try {
        await limited(() => client.workflow.start<typeof resendWorkflow>('resend', options))
        return workflowId
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined
        throw error
      }
    },
  }
}

export type ResentDelivery = NonNullable<Awaited<ReturnType<typeof findDelivery>>>

/**
 * Has a webhook sent now, without waiting for that: an open one by its lead's workflow, in order; a settled one by its
 * partner's resends. Rejects if the workflow cannot be reached.
 */
export type ResendWebhook = (delivery: ResentDelivery) => Promise<'accepted' | 'too_many'>

export function createResender(client: Client, referrals: Pick<Referrals, 'signal'>): ResendWebhook {
  const resends = createResends(client)
  // one update takes all that a partner asks for at a time
  const add = inBatches(async (partnerId, webhooks: Webhook[]) => resends.add(partnerId, webhooks))
  return async ({ state, waits_for: earlier, lead_id: leadId, partner_id: partnerId, sequence }) => {
    if (state !== 'pending') {
      const refused = await add(partnerId, { leadId, sequence })
      const isRefused = refused.some((one) => one.leadId === leadId && one.sequence === sequence)
      return isRefused ? 'too_many' : 'accepted'
    }
    // it follows the earlier one by itself
    if (earlier === null) await referrals.signal(leadId, sendNowSignal)
    return 'accepted'
  }
}
