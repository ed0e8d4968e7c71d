import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow'
import type { createActivities } from '../activities/index.ts'
import type { Welcome } from '../activities/welcome.ts'
import { LEASE_MS } from '../src/core/deliveries/decisions/delivery.ts'
import type {
  KnownRecord,
  MilestoneItem,
  Recording,
  ReferralState,
  SettledUpTo,
  TakenOver,
} from '../src/core/leads/decisions/referral.ts'
import { WAITING_QUEUE } from '../src/core/temporal/decisions/waiting-queue.ts'

export type Activities = ReturnType<typeof createActivities>
export type EndpointReview = NonNullable<Awaited<ReturnType<Activities['reviewEndpoint']>>>

// set everywhere: unset it behaves as TRY_CANCEL, whatever the documentation says
const { TRY_CANCEL, ABANDON } = ActivityCancellationType

const patient = proxyActivities<Activities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  cancellationType: ABANDON,
})

const brief = proxyActivities<Activities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumAttempts: 3 },
  cancellationType: ABANDON,
})

const reading = proxyActivities<Activities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  cancellationType: ABANDON,
})

/** One request, within its lease; "not yet" is retried after its own delay, for days if necessary. */
export const { deliverWebhook, resendWebhook, replayWebhook } = proxyActivities<Activities>({
  startToCloseTimeout: LEASE_MS,
  retry: { initialInterval: '5 seconds', backoffCoefficient: 1 },
  cancellationType: TRY_CANCEL,
})

/** Which webhooks are next to be sent once more. */
export const { listResends, listReplay } = proxyActivities<Activities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  cancellationType: TRY_CANCEL,
})

export const { recordScoreUpdate } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '10 seconds', maximumInterval: '1 hour' },
  cancellationType: ABANDON,
})

export const { sendOnboardingEmail } = proxyActivities<Activities>({
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '7 days',
  retry: { initialInterval: '10 seconds', maximumInterval: '1 hour' },
  cancellationType: ABANDON,
  summary: 'onboarding email to the borrower',
})

export const { reviewEndpoint, setNextProbe } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  cancellationType: TRY_CANCEL,
})

/** A few leads at a time. */
export const { wakeLeads } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  cancellationType: TRY_CANCEL,
})

/** Takes as long as endpoints take; a missing heartbeat shows a crash. */
export const { advanceClock, findRetry } = proxyActivities<Activities>({
  taskQueue: WAITING_QUEUE,
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  cancellationType: TRY_CANCEL,
})

/** What a scenario does to its lead: it waits for none of it here. */
export const { beginScenario, sendMilestones, readClock, dropOut, endScenario } = proxyActivities<Activities>(
  {
    startToCloseTimeout: '30 seconds',
    retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
    cancellationType: TRY_CANCEL,
  },
)

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

/** One request to an endpoint that a partner asked for. */
export const { certify, pingEndpoint } = proxyActivities<Activities>({
  startToCloseTimeout: LEASE_MS,
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  cancellationType: TRY_CANCEL,
})

export const { endCertification, reviewChange, applyChange } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  cancellationType: TRY_CANCEL,
})

/** Nothing takes effect before somebody was told of it. */
export const { announceChange } = proxyActivities<Activities>({
  startToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', maximumInterval: '1 hour' },
  cancellationType: TRY_CANCEL,
})

export const { notify } = proxyActivities<Activities>({
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '7 days',
  retry: { initialInterval: '10 seconds', maximumInterval: '1 hour' },
  cancellationType: TRY_CANCEL,
})

/**
 * Not a local activity: one that runs while somebody opens the workflow in the Web UI can complete in another order than
 * its history replays, and the workflow would be stuck.
 */
export function recordMilestones(
  leadId: number,
  items: MilestoneItem[],
  settled: SettledUpTo | undefined,
  { generation, last }: KnownRecord,
): Promise<Recording | null> {
  return patient.recordMilestones.executeWithOptions({ summary: describeItems(items) }, [
    leadId,
    items,
    settled,
    { generation, last },
  ])
}

/** Reads the lead's history in Temporal, and asks the record what it lacks of it. */
export function takeOverRecord(known: ReferralState, began: number): Promise<TakenOver> {
  const summary = 'go on with what the record has, which was restored'
  return reading.takeOverRecord.executeWithOptions({ summary }, [known, began])
}

/**
 * Tries a new lead's first webhook and onboarding email; what fails is retried by the activities above.
 *
 * @throws {ActivityFailure} when the activity itself failed three times, whatever keeps it from its end.
 */
export function welcomeLead(leadId: number, partnerId: number): Promise<Welcome> {
  const summary = 'send webhook 1, lead_received, and the onboarding email'
  return brief.welcome.executeWithOptions({ summary }, [leadId, partnerId])
}

/** Marks the open webhook to be tried now: `deliverWebhook` then makes that attempt, as a resend. */
export function requestAttempt(leadId: number, sequence: number): Promise<void> {
  const summary = `ask for webhook ${sequence} to be tried now`
  return patient.requestAttempt.executeWithOptions({ summary }, [leadId, sequence])
}

/** Answers by how many milliseconds the lead's clock is ahead. */
export function closeLead(leadId: number, reason: string): Promise<number> {
  return patient.closeLead.executeWithOptions({ summary: `close the lead: ${reason}` }, [leadId, reason])
}

/** `record contract_signed, client_engaged_in_chat × 3`: the server keeps 200 bytes of a summary. */
function describeItems(items: readonly MilestoneItem[]): string {
  if (items.length === 0) return 'read the record again'
  const counts = new Map<string, number>()
  for (const { name } of items) counts.set(name, (counts.get(name) ?? 0) + 1)
  const names = [...counts].map(([name, count]) => (count === 1 ? name : `${name} × ${count}`))
  return `record ${names.join(', ')}`.slice(0, 190)
}
