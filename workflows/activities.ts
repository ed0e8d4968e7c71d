import type { createActivities } from '../activities/index.ts'
import type { Welcome } from '../activities/welcome.ts'
import type {
  MilestoneItem,
  ReadRecord,
  Recording,
  SettledUpTo,
} from '../src/core/leads/decisions/referral.ts'
import { DELIVERIES_QUEUE } from '../src/core/temporal/decisions/deliveries-queue.ts'
import { SCORES_QUEUE } from '../src/core/temporal/decisions/scores-queue.ts'
import { policies } from './policies.ts'
import { interruptible, lasting } from './proxies.ts'

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
