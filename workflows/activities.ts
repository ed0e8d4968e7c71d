import { ActivityCancellationType, type ActivityOptions, proxyActivities } from '@temporalio/workflow'
import type { createActivities } from '../activities/index.ts'
import type { Welcome } from '../activities/welcome.ts'
import { LEASE_MS } from '../src/deliveries/delivery-states.ts'
import type { MilestoneItem, ReadRecord, Recording, SettledUpTo } from '../src/leads/referral-state.ts'
import { DELIVERIES_QUEUE, SCORES_QUEUE } from '../src/temporal/names.ts'

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

// set everywhere: unset it behaves as TRY_CANCEL, whatever the documentation says
const { TRY_CANCEL, ABANDON } = ActivityCancellationType

/** Of a lead's workflow: its run may end meanwhile, and what was begun continues. */
export const lasting = <Proxied extends object>(options: ActivityOptions) =>
  proxyActivities<Proxied>({ ...options, cancellationType: ABANDON })

/** Ends with what asked for it: a wake, or a workflow that is canceled. */
export const interruptible = <Proxied extends object>(options: ActivityOptions) =>
  proxyActivities<Proxied>({ ...options, cancellationType: TRY_CANCEL })

export type Activities = ReturnType<typeof createActivities>
export type EndpointReview = NonNullable<Awaited<ReturnType<Activities['reviewEndpoint']>>>

const record = lasting<Activities>(policies.record)
const firstTry = lasting<Activities>(policies.firstTry)

export const { recordScoreUpdate } = lasting<Activities>({ ...policies.scores, taskQueue: SCORES_QUEUE })

export const { sendOnboardingEmail } = lasting<Activities>({
  ...policies.welcomeMail,
  summary: 'onboarding email to the borrower',
})

const sending = { taskQueue: DELIVERIES_QUEUE }

export const { deliverWebhook, resendWebhook } = interruptible<Activities>({
  ...policies.webhook,
  ...sending,
})

export const { probeEndpoint } = interruptible<Activities>({ ...policies.probe, ...sending })

export const { listReplay } = interruptible<Activities>(policies.reading)

export const { reviewEndpoint, setNextProbe, wakeLeads } = interruptible<Activities>(policies.step)

/** "Not yet" while webhooks are due. */

export const { compareWithRecord, removeOld } = interruptible<Activities>(policies.long)

export const { notify } = interruptible<Activities>(policies.email)

/**
 * Not a local activity: one that runs while the workflow is opened in the Web UI can complete in another order than
 * its history replays, and the workflow would be stuck.
 */
export function recordMilestones(
  leadId: number,
  items: MilestoneItem[],
  settled: SettledUpTo | undefined,
): Promise<Recording> {
  return record.recordMilestones.executeWithOptions({ summary: describeItems(items) }, [
    leadId,
    items,
    settled,
  ])
}

/** Where the lead stands, and which of these milestones the record does not have. */
export function readRecord(leadId: number, dedupeKeys: string[]): Promise<ReadRecord> {
  return record.readRecord.executeWithOptions({ summary: 'read the record' }, [leadId, dedupeKeys])
}

/**
 * Tries a new lead's first webhook and onboarding email; what fails is retried by the activities above.
 *
 * @throws {ActivityFailure} when the activity itself failed three times, whatever keeps it from its end.
 */
export function welcomeLead(leadId: number, partnerId: number): Promise<Welcome> {
  const summary = 'send webhook 1, lead_received, and the onboarding email'
  return firstTry.welcome.executeWithOptions({ summary }, [leadId, partnerId])
}

/** Marks the open webhook to be tried now: `deliverWebhook` then makes that attempt, as a resend. */
export function requestAttempt(leadId: number, sequence: number): Promise<void> {
  const summary = `ask for webhook ${sequence} to be tried now`
  return record.requestAttempt.executeWithOptions({ summary }, [leadId, sequence])
}

/** @returns by how many milliseconds the lead's clock is ahead of ours. */
export function closeLead(leadId: number, reason: string, byScenario: boolean): Promise<number> {
  const summary = `close the lead: ${reason}`
  return record.closeLead.executeWithOptions({ summary }, [leadId, reason, byScenario])
}

/** `record contract_signed, client_engaged_in_chat × 3`: the server keeps 200 bytes of a summary. */
function describeItems(items: readonly MilestoneItem[]): string {
  const counts = new Map<string, number>()
  for (const { name } of items) counts.set(name, (counts.get(name) ?? 0) + 1)
  const names = [...counts].map(([name, count]) => (count === 1 ? name : `${name} × ${count}`))
  return `record ${names.join(', ')}`.slice(0, 190)
}
