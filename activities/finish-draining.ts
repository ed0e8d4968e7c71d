import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common'
import { finishDraining } from '../src/db/endpoints/draining.ts'
import type { Sql } from '../src/db/orm.ts'

/** Makes a drained endpoint active. "Not yet" is a failure, so that Temporal does the waiting. */
export function finishDrainingActivity({ sql }: { sql: Sql }) {
  return async (endpointId: number, since: string): Promise<void> => {
    if (await finishDraining(sql, endpointId, since)) return
    throw ApplicationFailure.create({
      message: 'webhooks from before are still due',
      type: 'Again',
      category: ApplicationFailureCategory.BENIGN,
    })
  }
}
