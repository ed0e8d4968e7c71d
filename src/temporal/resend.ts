import { type Client, isGrpcDeadlineError } from '@temporalio/client'
import type { resend } from '../../workflows/resend.ts'
import { resendId, TASK_QUEUE } from './names.ts'

const CALL_LIMIT_MS = 3000
/** Longer than a webhook may take. */
const ATTEMPT_LIMIT_MS = 25_000

interface SettledDelivery {
  eventId: string
  leadId: number
  sequence: number
}

/**
 * Sends a settled webhook once more.
 *
 * @returns how the attempt ended; `undefined` when that is not known yet.
 */
export async function resendDelivery(client: Client, { eventId, leadId, sequence }: SettledDelivery) {
  const handle = await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
    client.workflow.start<typeof resend>('resend', {
      workflowId: resendId(eventId),
      taskQueue: TASK_QUEUE,
      args: [leadId, sequence],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: `Webhook ${sequence} of lead ${leadId}`,
    }),
  )
  try {
    return await client.withDeadline(Date.now() + ATTEMPT_LIMIT_MS, () => handle.result())
  } catch (error) {
    if (isGrpcDeadlineError(error instanceof Error ? (error.cause ?? error) : error)) return undefined
    throw error
  }
}
