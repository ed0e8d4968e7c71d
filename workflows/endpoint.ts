import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow'
import type { createActivities } from '../activities/index.ts'

type Activities = ReturnType<typeof createActivities>

const { TRY_CANCEL } = ActivityCancellationType

const { wakeLeads } = proxyActivities<Activities>({
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  cancellationType: TRY_CANCEL,
})

const { finishDraining } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '250 milliseconds', maximumInterval: '1 minute' },
  cancellationType: TRY_CANCEL,
})

/**
 * Brings a partner's endpoint back to work, while it is not active: id `endpoint-<id>`. What is to be done
 * stands in PostgreSQL and is read anew in each round, so that an endpoint that is set or resumed while this
 * runs needs no message.
 */
export async function endpoint(endpointId: number): Promise<void> {
  for (;;) {
    const since = await wakeLeads(endpointId)
    if (since === null) return
    await finishDraining(endpointId, since)
  }
}
