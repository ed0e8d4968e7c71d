import type { Client } from '@temporalio/client'
import { lookSignal } from '../../../../workflows/messages.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { ensureRunning } from '../../../core/temporal/ensure-running.ts'
import { resetId } from '../decisions/reset.ts'
import { markResetStarted } from '../statements/resets.ts'

/** Starts the workflow that erases a partner's leads; a running one is told to look at the record. */
export function createResetStarter({ client, sql }: { client: Client; sql: Sql }) {
  return async (partnerId: number): Promise<void> => {
    await ensureRunning(client, 'reset', {
      workflowId: resetId(partnerId),
      args: [partnerId],
      summary: `Partner ${partnerId} begins again`,
      signal: lookSignal,
    })
    await markResetStarted(sql, partnerId)
  }
}
