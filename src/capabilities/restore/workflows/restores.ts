import type { Client } from '@temporalio/client'
import { ensureRunning } from '../../../core/temporal/ensure-running.ts'
import { restoreId } from '../../../core/temporal/names.ts'

/** Starts what follows a restored record, by its generation. */
export function createRestoreStarter(client: Client) {
  return (generation: number) =>
    ensureRunning(client, 'restore', {
      workflowId: restoreId(generation),
      args: [generation],
      summary: `The record was restored: generation ${generation}`,
    })
}
