import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow'
import type { createActivities } from '../activities/index.ts'
import { LEASE_MS } from '../src/domain/delivery.ts'

type Activities = ReturnType<typeof createActivities>
export type EndpointReview = NonNullable<Awaited<ReturnType<Activities['reviewEndpoint']>>>

const { TRY_CANCEL } = ActivityCancellationType

export const { reviewEndpoint } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  cancellationType: TRY_CANCEL,
})

/** Wakes for as long as there are leads; a crash is noticed by the missing heartbeat. */
export const { wakeLeads } = proxyActivities<Activities>({
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  cancellationType: TRY_CANCEL,
})

export const { finishDraining } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '250 milliseconds', maximumInterval: '10 seconds' },
  cancellationType: TRY_CANCEL,
})

/** One request; "another is in flight" and the like are tried again for a while. */
export const { probeEndpoint } = proxyActivities<Activities>({
  startToCloseTimeout: LEASE_MS,
  scheduleToCloseTimeout: '15 minutes',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 1 },
  cancellationType: TRY_CANCEL,
})

export const { notify } = proxyActivities<Activities>({
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '7 days',
  retry: { initialInterval: '10 seconds', maximumInterval: '1 hour' },
  cancellationType: TRY_CANCEL,
})
