import type { ActivityOptions } from '@temporalio/workflow'
import { LEASE_MS } from '../src/core/deliveries/decisions/delivery.ts'

/** How long one try may take, and the waits between tries: the first, doubled each time up to the longest. */
function tries(longestTry: string | number, firstWait: string, longestWait: string): ActivityOptions {
  return {
    startToCloseTimeout: longestTry,
    retry: { initialInterval: firstWait, maximumInterval: longestWait },
  }
}

const webhook = {
  startToCloseTimeout: LEASE_MS,
  retry: { initialInterval: '5 seconds', backoffCoefficient: 1 },
} as const

/** How activities are tried. Without another limit, each is tried until it succeeds. */
export const policies = {
  /** One transaction of a lead's, whose workflow does nothing else meanwhile. */
  record: tries('10 seconds', '1 second', '30 seconds'),
  /** What it cannot do is left to activities that are tried for longer. */
  firstTry: { startToCloseTimeout: '10 seconds', retry: { initialInterval: '1 second', maximumAttempts: 3 } },
  /** Reads much: a history, or webhooks of many leads. */
  reading: tries('1 minute', '1 second', '30 seconds'),
  /** A transaction or two of a workflow that goes from step to step. */
  step: tries('30 seconds', '1 second', '1 minute'),
  /** One request, within its lease; "not yet" is retried after its own delay, for days if necessary. */
  webhook,
  /** One request; "another is in flight" and the like are tried again for a while: another probe follows. */
  probe: { ...webhook, scheduleToCloseTimeout: '15 minutes' },
  /** One request to an endpoint that a partner asked for. */
  call: tries(LEASE_MS, '1 second', '1 minute'),
  /** The provider may be away until the next update, which is the limit that each has. */
  scores: tries('30 seconds', '10 seconds', '1 hour'),
  /** It may be due in weeks, where many of one partner wait; the activity itself gives it up. */
  welcomeMail: tries('2 minutes', '10 seconds', '1 hour'),
  /** A mail server may be away for days; then the email is stale. */
  email: { ...tries('2 minutes', '10 seconds', '1 hour'), scheduleToCloseTimeout: '7 days' },
  /** Takes as long as there are leads, partners or dates to go through; a missing heartbeat shows a crash. */
  long: { ...tries('1 day', '1 second', '1 minute'), heartbeatTimeout: '1 minute' },
} as const satisfies Record<string, ActivityOptions>
