import { isCancellation } from '@temporalio/workflow'
import { sendOnboardingEmail, welcomeLead } from './activities.ts'
import { type Journey, note } from './journey.ts'
import { enter } from './phases.ts'
import { heedRefusal } from './read-record.ts'
import { publish } from './operator-view.ts'
import { beginScenario, OF_ADDRESS } from './scenario.ts'
import { applySent } from './standing.ts'

/**
 * Sends a new lead's first webhook and the borrower's onboarding mail; the mail alone where the webhook is settled. If that
 * fails, `deliverNext` sends the webhook: neither waits for the other, whatever keeps one of them from being sent.
 */
export async function welcome(journey: Journey): Promise<void> {
  const { state } = journey
  if (journey.mailed) return
  if (state.next === 1) {
    enter(journey, 'webhooks', 'welcoming')
    try {
      const answer = await welcomeLead(state.leadId, state.partnerId)
      applySent(journey, answer)
      journey.mailed = answer.mailed
      // once: a lead that has begun to play it has more than its first milestone
      if (answer.scenario !== undefined && state.seen.length === 1 && journey.scenario === null)
        beginScenario(journey, answer.scenario, OF_ADDRESS)
      publish(journey)
    } catch (error) {
      // the run ends: the next one sees to it
      if (isCancellation(error) || heedRefusal(journey, error)) return
      note(journey, 'welcome', 'failed three times: webhook 1 and the onboarding email are tried apart')
      publish(journey)
    } finally {
      enter(journey, 'webhooks', 'idle')
    }
  }
  if (!journey.mailed) await mail(journey)
}

async function mail(journey: Journey): Promise<void> {
  try {
    await sendOnboardingEmail(journey.state.leadId)
  } catch (error) {
    if (isCancellation(error) || heedRefusal(journey, error)) return
    note(journey, 'onboarding email', 'could not be sent for 7 days: it was given up')
    publish(journey)
  }
  journey.mailed = true
}
