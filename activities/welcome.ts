import { setTimeout as delay } from 'node:timers/promises'
import type { Sent } from '../src/core/leads/decisions/referral.ts'
import type { FirstAttempts } from './first-attempts.ts'
import type { OnboardingMails } from './onboarding-mails.ts'

export interface Welcome extends Sent {
  mailed: boolean
}

interface Dependencies {
  firstAttempts: FirstAttempts
  onboardingMails: OnboardingMails
}

/** Begins a lead's life: its first webhook to the partner, and the mail to the borrower. */
export function welcomeActivities({ firstAttempts, onboardingMails }: Dependencies) {
  return {
    /**
     * Tries both at once, and waits a second at most: what has not ended well by then goes on, and is for `deliverWebhook`
     * and `sendOnboardingEmail`, which have more patience.
     */
    welcome: async (leadId: number, partnerId: number): Promise<Welcome> => {
      const mailing = onboardingMails.send(leadId).then(
        () => true,
        () => false,
      )
      const inTime = Promise.race([mailing, delay(firstAttempts.waitMs, false, { ref: false })])
      const [sent, mailed] = await Promise.all([firstAttempts.begin(leadId, partnerId), inTime])
      return { ...sent, mailed }
    },

    sendOnboardingEmail: async (leadId: number) => onboardingMails.send(leadId),
  }
}
