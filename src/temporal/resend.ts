import { type Client, isGrpcDeadlineError } from '@temporalio/client'
import type { resend } from '../../workflows/resend.ts'
import { bringForward } from '../db/delivery-resend.ts'
import type { Sql } from '../db/orm.ts'
import { resendId, TASK_QUEUE } from './names.ts'
import type { Referrals } from './referrals.ts'

const CALL_LIMIT_MS = 3000
/** Longer than a webhook may take. */
const ATTEMPT_LIMIT_MS = 25_000

interface SettledDelivery {
  eventId: string
  leadId: number
  sequence: number
}

/** Starts to send a settled webhook once more; two who ask at a time get one attempt. */
async function startResend(client: Client, { eventId, leadId, sequence }: SettledDelivery) {
  return client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
    client.workflow.start<typeof resend>('resend', {
      workflowId: resendId(eventId),
      taskQueue: TASK_QUEUE,
      args: [leadId, sequence],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: `Webhook ${sequence} of lead ${leadId}`,
    }),
  )
}

/**
 * Sends a settled webhook once more.
 *
 * @returns how the attempt ended; `undefined` when that is not known yet.
 */
export async function resendDelivery(client: Client, delivery: SettledDelivery) {
  const handle = await startResend(client, delivery)
  try {
    return await client.withDeadline(Date.now() + ATTEMPT_LIMIT_MS, () => handle.result())
  } catch (error) {
    if (isGrpcDeadlineError(error instanceof Error ? (error.cause ?? error) : error)) return undefined
    throw error
  }
}

/** Has a webhook sent again, without waiting for it: an open one by its lead's workflow, in its place. */
export type ResendWebhook = (delivery: SettledDelivery & { isOpen: boolean }) => Promise<void>

export function createResender({
  client,
  sql,
  referrals,
}: {
  client: Client
  sql: Sql
  referrals: Referrals
}): ResendWebhook {
  return async ({ isOpen, ...delivery }) => {
    if (isOpen) {
      await bringForward(sql, delivery.eventId)
      await referrals.signal(delivery.leadId, 'wake')
    } else await startResend(client, delivery)
  }
}
