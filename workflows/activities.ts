import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  isCancellation,
  proxyActivities,
} from '@temporalio/workflow'
import type { createActivities } from '../activities/index.ts'
import { LEASE_MS } from '../src/deliveries/delivery-states.ts'
import { OTHER_LEAD, UNREAD } from '../src/leads/referral-state.ts'
import { DELIVERIES_QUEUE, SCORES_QUEUE } from '../src/temporal/names.ts'

type Groups = ReturnType<typeof createActivities>
/** The activities of all task queues. */
export type Activities = Groups['activities'] & Groups['deliveryActivities'] & Groups['scoreActivities']

// set everywhere: unset it behaves as TRY_CANCEL, whatever the documentation says
const { TRY_CANCEL, ABANDON } = ActivityCancellationType

/** Activities of a lead: they continue when its run ends meanwhile. */
const lasting = (options: ActivityOptions) =>
  proxyActivities<Activities>({ ...options, cancellationType: ABANDON })

/** Activities that end on a wake, or when their workflow is canceled. */
const interruptible = (options: ActivityOptions) =>
  proxyActivities<Activities>({ ...options, cancellationType: TRY_CANCEL })

/** How long one try may take, and the waits between tries: the first, doubled each time up to the longest. */
function tries(longestTry: string | number, firstWait: string, longestWait: string): ActivityOptions {
  return {
    startToCloseTimeout: longestTry,
    retry: { initialInterval: firstWait, maximumInterval: longestWait },
  }
}

/**
 * One transaction of a lead, or a wait of a second at most. They are no local activities: one that runs while somebody opens
 * the workflow in the Web UI can complete in another order than its history replays, and the workflow would be stuck.
 */
export const {
  advanceClock,
  closeLead,
  readRecord,
  recordMilestones,
  welcome: welcomeLead,
} = lasting(tries('10 seconds', '1 second', '30 seconds'))

/** A mail server may be away for days; then an email is stale. */
const STALE_AFTER = '7 days'

export const { sendOnboardingEmail } = lasting({
  ...tries('2 minutes', '10 seconds', '1 hour'),
  scheduleToCloseTimeout: STALE_AFTER,
  summary: 'onboarding email to the borrower',
})

/** The provider may be away until the next update, which is the limit that each has. */
export const { recordScoreUpdate } = lasting({
  ...tries('30 seconds', '10 seconds', '1 hour'),
  taskQueue: SCORES_QUEUE,
})

/** For unexpected errors only: webhooks have their own schedule, in `retry-schedule.ts`. */
const webhook = { ...tries(LEASE_MS, '5 seconds', '5 seconds'), taskQueue: DELIVERIES_QUEUE }

/** One request within its lease. "Not yet" is retried after its own delay, for days if necessary. */
export const { deliverWebhook, resendWebhook } = interruptible(webhook)

/** "Another request is in flight" and the like are retried for a while: another probe follows. */
export const { probeEndpoint } = interruptible({ ...webhook, scheduleToCloseTimeout: '15 minutes' })

/** A transaction or two, a page of a list, or one request to a partner's endpoint. */
export const { certify, reviewEndpoint, wakeLeads } = interruptible(tries('1 minute', '1 second', '1 minute'))

/** Its requester waits no longer than this. */
export const { pingEndpoint } = interruptible({ scheduleToCloseTimeout: '17 seconds' })

/** As long as there are leads or dates to go through. A missing heartbeat shows a crash. */
export const { compareWithRecord, removeOld } = interruptible({
  ...tries('1 day', '1 second', '1 minute'),
  heartbeatTimeout: '1 minute',
})

/** A refused mail does not stop the partner's other mails. */
export const { notify } = interruptible({
  ...tries('2 minutes', '10 seconds', '10 minutes'),
  scheduleToCloseTimeout: STALE_AFTER,
})

/** Why an activity was refused because of its lead, not of itself; `undefined` for any other error. */
export function leadRefusalOf(error: unknown): typeof OTHER_LEAD | typeof UNREAD | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : undefined
  const type = cause instanceof ApplicationFailure ? cause.type : undefined
  return type === OTHER_LEAD || type === UNREAD ? type : undefined
}

/** Whether an activity has failed for good, and its run goes on without it. */
export const gaveUp = (error: unknown): boolean =>
  error instanceof ActivityFailure && !isCancellation(error) && leadRefusalOf(error) === undefined
