import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import { closeSignal, wakeSignal } from '../../../../workflows/messages.ts'
import { referralId } from '../../../core/temporal/names.ts'

const CALL_LIMIT_MS = 10_000

/**
 * Ends the workflow of an erased lead: it is closed, and told to look at its webhooks, which are canceled. One that this does
 * not reach learns of the erasure from its next activity, or from the comparison with the record.
 */
export async function endReferral(client: Client, leadId: number): Promise<void> {
  const handle = client.workflow.getHandle(referralId(leadId))
  const tell = async () => {
    await handle.signal(closeSignal, { reason: 'erased' })
    await handle.signal(wakeSignal)
  }
  await client.withDeadline(Date.now() + CALL_LIMIT_MS, tell).catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error
  })
}
