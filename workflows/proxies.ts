import { ActivityCancellationType, type ActivityOptions, proxyActivities } from '@temporalio/workflow'

// set everywhere: unset it behaves as TRY_CANCEL, whatever the documentation says
const { TRY_CANCEL, ABANDON } = ActivityCancellationType

/** Of a lead's workflow: its run may end meanwhile, and what was begun continues. */
export const lasting = <Activities extends object>(options: ActivityOptions) =>
  proxyActivities<Activities>({ ...options, cancellationType: ABANDON })

/** Ends with what asked for it: a wake, or a workflow that is canceled. */
export const interruptible = <Activities extends object>(options: ActivityOptions) =>
  proxyActivities<Activities>({ ...options, cancellationType: TRY_CANCEL })
