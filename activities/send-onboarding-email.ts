import { ApplicationFailure } from '@temporalio/activity'
import { markOnboardingSent, onboardingRecipient } from '../src/db/leads/lifecycle.ts'
import type { Sql } from '../src/db/orm.ts'

export interface Mail {
  to: string
  subject: string
  text: string
  /** Stable, so that a mail sent twice is shown once. */
  messageId: string
}

export type Mailer = (mail: Mail) => Promise<'sent' | 'not_allowed'>

interface Dependencies {
  sql: Sql
  mailer: Mailer
}

/** Welcomes the borrower, once; skipped when that was done. */
export function sendOnboardingEmailActivity({ sql, mailer }: Dependencies) {
  return async (leadId: number): Promise<'sent' | 'already_sent' | 'not_allowed'> => {
    const recipient = await onboardingRecipient(sql, leadId)
    if (recipient === undefined) return 'already_sent'
    const outcome = await mailer(welcome(leadId, recipient)).catch(withoutAddress)
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
      `${recipient.partner_name} has referred you to us, so that we can help you improve your credit.`,
      'We will be in touch with the next step: creating your account and completing your credit scan.',
      'You need not do anything now.',
    ].join('\n\n'),
  }
}

/** A mail server's refusal quotes the address; errors of activities are kept in Temporal. */
export function withoutAddress(error: unknown): never {
  const code = error instanceof Error && 'responseCode' in error ? String(error.responseCode) : codeOf(error)
  throw ApplicationFailure.create({ message: `the mail server refused: ${code}`, type: 'MailRefused' })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
}
