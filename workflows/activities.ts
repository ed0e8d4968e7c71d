import {
  ActivityCancellationType,
  CancellationScope,
  isCancellation,
  proxyActivities,
  sleep,
} from '@temporalio/workflow'
import type { createActivities } from '../activities/index.ts'
import type { Welcome } from '../activities/welcome.ts'
import { LEASE_MS } from '../src/domain/delivery.ts'
import type { MilestoneItem, Recording, SettledUpTo } from '../src/domain/referral.ts'
import { type Journey, note } from './journey.ts'

export type Activities = ReturnType<typeof createActivities>

// set everywhere: unset it behaves as TRY_CANCEL, whatever the documentation says
const { TRY_CANCEL, ABANDON } = ActivityCancellationType

const patient = proxyActivities<Activities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  cancellationType: ABANDON,
})

/** One request, within its lease; a "not yet" comes back with its own delay, for days if need be. */
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
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '7 days',
  retry: { initialInterval: '1 hour', backoffCoefficient: 1 },
  cancellationType: ABANDON,
  summary: 'onboarding e-mail to the borrower',
})

/**
 * An ordinary activity, not a local one: a local activity that is under way while somebody looks at the
 * workflow in the Web UI can end in another order than its history replays, and the workflow would be stuck.
 */
export function recordMilestones(
  leadId: number,
  items: MilestoneItem[],
  settled: SettledUpTo | undefined,
): Promise<Recording> {
  return patient.recordMilestones.executeWithOptions({ summary: describeItems(items) }, [
    leadId,
    items,
    settled,
  ])
}

/** The first webhook and the onboarding mail of a new lead, as far as they end well at once. */
export function welcomeLead(leadId: number, partnerId: number): Promise<Welcome> {
  const summary = 'send webhook 1, lead_received, and the onboarding e-mail'
  return patient.welcome.executeWithOptions({ summary }, [leadId, partnerId])
}

export function closeLead(leadId: number, reason: string): Promise<void> {
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

/**
 * Runs `step` again and again, until its scope is cancelled because the run ends. An error that comes out of it is
 * noted and tried again after a minute: no coroutine ends, and none takes the workflow with it, because of one.
 */
export async function forever(journey: Journey, what: string, step: () => Promise<void>): Promise<void> {
  const scope = CancellationScope.current()
  while (!scope.consideredCancelled) {
    try {
      await step()
    } catch (error) {
      if (isCancellation(error)) continue
      note(journey, what, 'failed: it is tried again in a minute')
      await sleep('1 minute', { summary: `${what}: try again` }).catch(() => {})
    }
  }
}
