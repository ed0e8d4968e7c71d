import { markOnboardingSent, onboardingRecipient } from '../src/db/leads/lifecycle.ts'
import type { Sql } from '../src/db/orm.ts'
import type { Mail, Mailer } from './mailer.ts'

export interface OnboardingDependencies {
  sql: Sql
  encryptionKeys: readonly Buffer[]
  mailer: Mailer
}

/** Welcomes the borrower, once. */
export function sendOnboardingEmailActivity({ sql, encryptionKeys, mailer }: OnboardingDependencies) {
  return async (leadId: number): Promise<'sent' | 'already_sent' | 'not_allowed'> => {
    const recipient = await onboardingRecipient(sql, leadId, encryptionKeys)
    if (recipient === undefined) return 'already_sent'
    const outcome = await mailer(welcome(leadId, recipient))
    if (outcome === 'sent') await markOnboardingSent(sql, leadId)
    return outcome
  }
}

function welcome(
  leadId: number,
  recipient: { first_name: string; email: string; partner_name: string },
): Mail {
  return {
    to: recipient.email,
    subject: 'Your path to a mortgage starts here',
    messageId: `<onboarding-${leadId}@partner-referral-service>`,
    text: [
      `Hello ${recipient.first_name},`,
      `${recipient.partner_name} has referred you to us so that we can help you improve your credit.`,
      'We will contact you about the next steps: creating your account and completing your credit scan.',
      'You do not need to do anything now.',
    ].join('\n\n'),
  }
}
