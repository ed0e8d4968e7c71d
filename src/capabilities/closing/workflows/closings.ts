import type { Client } from '@temporalio/client'
import { lookSignal } from '../../../../workflows/messages.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { ensureRunning } from '../../../core/temporal/ensure-running.ts'
import { closingId } from '../decisions/closing.ts'
import { markClosingStarted } from '../statements/carry-out.ts'

/** Starts the workflow of a lead's closing; a running one is told to look at the record. */
export function createClosingStarter({ client, sql }: { client: Client; sql: Sql }) {
  return async (leadId: number, { quietly = false }: { quietly?: boolean } = {}): Promise<void> => {
    await ensureRunning(client, 'closing', {
      workflowId: closingId(leadId),
      args: [leadId],
      summary: `Closing of lead ${leadId}`,
      ...(!quietly && { signal: lookSignal }),
    })
    await markClosingStarted(sql, leadId)
  }
}
