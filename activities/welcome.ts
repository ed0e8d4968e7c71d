import { setTimeout as delay } from 'node:timers/promises'
import type { Sent } from '../src/domain/referral.ts'
import type { FirstAttempts } from './first-attempts.ts'
import { type OnboardingDependencies, sendOnboardingEmailActivity } from './send-onboarding-email.ts'

export interface Welcome extends Sent {
  mailed: boolean
}

interface Dependencies extends OnboardingDependencies {
  firstAttempts: FirstAttempts
}

/** Begins a lead's life: its first webhook to the partner, and the mail to the borrower. */
export function welcomeActivities({ firstAttempts, ...onboarding }: Dependencies) {
  const send = sendOnboardingEmailActivity(onboarding)
  const underWay = new Map<number, Promise<unknown>>()

  function mail(leadId: number) {
    const sending = send(leadId).finally(() => underWay.delete(leadId))
    underWay.set(leadId, sending)
    return sending
  }

  return {
    /**
     * Tries both at once, and waits a second at most: what has not ended well by then goes on, and is for `deliverWebhook`
     * and `sendOnboardingEmail`, which have more patience.
     */
    welcome: async (leadId: number, partnerId: number): Promise<Welcome> => {
      const mailing = mail(leadId).then(
        () => true,
        () => false,
      )
      const inTime = Promise.race([mailing, delay(firstAttempts.waitMs, false, { ref: false })])
      const [sent, mailed] = await Promise.all([firstAttempts.begin(leadId, partnerId), inTime])
      return { ...sent, mailed }
    },

    sendOnboardingEmail: async (leadId: number) => {
      await underWay.get(leadId)?.catch(() => {})
      return mail(leadId)
    },
  }
}
