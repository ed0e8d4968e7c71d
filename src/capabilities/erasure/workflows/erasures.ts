import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import { closeSignal, lookSignal, wakeSignal } from '../../../../workflows/messages.ts'
import { markErasureStarted } from '../statements/requests.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { erasureId } from '../decisions/erasure.ts'
import { ensureRunning } from '../../../core/temporal/ensure-running.ts'
import { referralId } from '../../../core/temporal/names.ts'

const CALL_LIMIT_MS = 10_000

/** Starts the workflow of a lead's erasure; a running one is told to look at the record. */
export function createErasureStarter({ client, sql }: { client: Client; sql: Sql }) {
  return async (leadId: number, { quietly = false }: { quietly?: boolean } = {}): Promise<void> => {
    await ensureRunning(client, 'erasure', {
      workflowId: erasureId(leadId),
      args: [leadId],
      summary: `Erasure of lead ${leadId}`,
      ...(!quietly && { signal: lookSignal }),
    })
    await markErasureStarted(sql, leadId)
  }
}

interface EnderOptions {
  client: Client
  /** The ids of a lead's workflows beside its own. */
  besideLead: readonly ((leadId: number) => string)[]
}

/**
 * Ends the workflows of an erased lead. Those beside its own are terminated. Its own is closed, and told to look at its
 * webhooks, which are canceled: it then answers waiting senders, and completes. By force, it is terminated too.
 *
 * @returns whether the lead's own workflow has ended.
 */
export function createLeadEnder({ client, besideLead }: EnderOptions) {
  const reason = 'the lead is erased'
  const terminate = (workflowId: string) =>
    ifItRuns(async () => void (await client.workflow.getHandle(workflowId).terminate(reason)))

  return async (leadId: number, byForce: boolean): Promise<boolean> =>
    client.withDeadline(Date.now() + CALL_LIMIT_MS, async () => {
      for (const idOf of besideLead) await terminate(idOf(leadId))
      if (byForce) await terminate(referralId(leadId))
      const handle = client.workflow.getHandle(referralId(leadId))
      const isRunning = await ifItRuns(async () => {
        await handle.signal(closeSignal, { reason: 'erased' })
        await handle.signal(wakeSignal)
      })
      return !isRunning
    })
}

/** @returns whether it did. */
async function ifItRuns(act: () => Promise<void>): Promise<boolean> {
  try {
    await act()
    return true
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false
    throw error
  }
}
