import { beginAttempt } from '../src/deliveries/begin-attempt.ts'
import type { ScenarioName } from '../src/sandbox/scenarios.ts'
import type { Sql } from '../src/database/sql.ts'
import type { Sent } from '../src/leads/referral-state.ts'
import type { Attempts } from './attempts.ts'
import type { OnboardingMails } from './onboarding-mails.ts'

export interface Welcome extends Sent {
  mailed: boolean
  /** What the lead plays, in a sandbox. */
  scenario?: ScenarioName
}

interface Dependencies {
  sql: Sql
  encryptionKeys: readonly Buffer[]
  attempts: Attempts
  onboardingMails: OnboardingMails
  /** The scenario that a lead's address names; absent outside a sandbox. */
  scenarioOf?: (leadId: number) => Promise<ScenarioName | undefined>
}

/** Begins a lead's life: its first webhook to the partner, and the mail to the borrower. */
export function welcomeActivities(dependencies: Dependencies) {
  const { attempts, onboardingMails, scenarioOf } = dependencies
  return {
    /**
     * Tries both at once, and waits a second at most: what has not ended well by then continues, and is for `deliverWebhook`
     * and `sendOnboardingEmail`, which have more patience.
     */
    welcome: async (leadId: number, partnerId: number): Promise<Welcome> => {
      const mailing = onboardingMails.send(leadId).then(
        () => true,
        () => false,
      )
      const sending = sendFirst(dependencies, leadId, partnerId)
      const [sent, mailed] = await Promise.all([sending, attempts.inTime(mailing, false)])
      const scenario = await scenarioOf?.(leadId)
      return { ...sent, mailed, ...(scenario && { scenario }) }
    },

    sendOnboardingEmail: async (leadId: number) => onboardingMails.send(leadId),
  }
}

/** Makes the first attempt at a lead's first webhook, if it can be made now. */
async function sendFirst(
  { sql, attempts, encryptionKeys }: Dependencies,
  leadId: number,
  partnerId: number,
): Promise<Sent> {
  const first = { leadId, sequence: 1, trigger: 'scheduled' as const }
  const attempt = await attempts.begin(partnerId, 'scheduled', () =>
    beginAttempt(sql, first, encryptionKeys, attempts.mayTake(leadId, 1)),
  )
  if (attempt === undefined) return {}
  const { begun, making } = attempt
  if (begun.kind === 'send' && making !== undefined) return attempts.sent(making, begun.started)
  return begun.kind === 'settled' && begun.state !== 'pending' ? { delivered: 1 } : {}
}
