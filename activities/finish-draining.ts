import { activityInfo } from '@temporalio/activity'
import { finishDraining } from '../src/core/endpoints/statements/draining.ts'
import { unsentNotices } from '../src/core/endpoints/statements/notices.ts'
import { partnerOfEndpoint } from '../src/core/endpoints/statements/review.ts'
import type { Sql } from '../src/core/database/orm.ts'
import { again } from './again.ts'

/** So many tries take one and a half minutes. */
const TRIES = 14

/**
 * Makes a drained endpoint active. Until nothing from before is due, Temporal tries again; it returns all the same after
 * a while if there are emails to be sent, which only another round of the endpoint's workflow does.
 */
export function finishDrainingActivity({ sql }: { sql: Sql }) {
  return async (endpointId: number, since: string): Promise<void> => {
    if (await finishDraining(sql, endpointId, since)) return
    if (activityInfo().attempt >= TRIES) {
      const unsent = await unsentNotices(sql, await partnerOfEndpoint(sql, endpointId))
      if (unsent.length > 0) return
    }
    throw again('webhooks from before are still due')
  }
}
