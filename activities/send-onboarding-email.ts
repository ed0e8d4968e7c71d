import type { MailRefusal } from '../src/db/entities/onboarding-mail.ts'
import { markOnboardingSent, onboardingRecipient } from '../src/db/leads/lifecycle.ts'
import { claimOnboardingMail, type MailLimits } from '../src/db/leads/onboarding.ts'
import type { Sql } from '../src/db/orm.ts'
import { nameInMail } from '../src/domain/name-in-mail.ts'
import { addressHashes } from './address-hash.ts'
import { again } from './again.ts'
import type { Mail, Mailer } from './mailer.ts'
import { createTurns } from './turns.ts'

export interface OnboardingDependencies {
  sql: Sql
  mailer: Mailer
  mailLimits: MailLimits
  encryptionKeys: readonly Buffer[]
}

/**
 * How long a claim waits for others of its partner in this process. It never waits for them with a connection: a burst of
 * one partner would take all connections.
 */
const TURN_MS = 5000
/** When it is tried again after that: many wait, so they come back spread out. */
const AGAIN_MS = 20_000

type Outcome = 'sent' | 'already_sent' | 'not_allowed' | MailRefusal

/**
 * Welcomes the borrower, once, unless the address was mailed often enough. Beyond the limit of its partner, Temporal
 * retries it when it is due.
 */
export function sendOnboardingEmailActivity(dependencies: OnboardingDependencies) {
  const { sql, mailer, mailLimits, encryptionKeys } = dependencies
  const inTurn = createTurns(TURN_MS)

  return async (leadId: number): Promise<Outcome> => {
    const recipient = await onboardingRecipient(sql, leadId, encryptionKeys)
    if (recipient === undefined) return 'already_sent'
    const { partner_id: partnerId, email } = recipient
    const claim = { leadId, partnerId, addressHashes: addressHashes(email, encryptionKeys) }
    const claimIt = () => claimOnboardingMail(sql, claim, mailLimits)
    const { refused, due_in_ms: dueInMs } = await inTurn(partnerId, claimIt, comeBack)
    if (refused !== null) return refused
    if (dueInMs > 0) throw again('the partner has used up the mails of this hour', dueInMs)
    const outcome = await mailer(welcome(leadId, recipient))
    if (outcome === 'sent') await markOnboardingSent(sql, leadId)
    return outcome
  }
}

async function comeBack(): Promise<never> {
  throw again('many leads of the partner are new', AGAIN_MS * (1 + Math.random()))
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
      `Hello ${nameInMail(recipient.first_name, 'there')},`,
      `${nameInMail(recipient.partner_name, 'Your lender')} has referred you to us so that we can help you improve your credit.`,
      'We will contact you about the next steps: creating your account and completing your credit scan.',
      'You do not need to do anything now.',
    ].join('\n\n'),
  }
}
