import { ApplicationFailure } from '@temporalio/common'
import type { Logger } from 'pino'
import type { MailRefusal } from '../src/core/leads/tables/onboarding-mail.ts'
import { onboardingRecipient } from '../src/core/leads/statements/lifecycle.ts'
import {
  claimOnboardingMail,
  finishOnboardingMail,
  releaseOnboardingMail,
} from '../src/core/leads/statements/onboarding.ts'
import type { Sql } from '../src/core/database/sql.ts'
import { DAY_MS } from '../src/core/values/durations.ts'
import { nameInMail } from '../src/core/leads/decisions/name-in-mail.ts'
import { addressHashes } from '../src/core/sealing/address-hash.ts'
import { again } from './again.ts'
import { mailFields } from './told-mailer.ts'
import { type Mail, type Mailer, type MailSubject, manyUnderWay } from './mailer.ts'
import { retryFor } from './retry-for.ts'

interface Dependencies {
  sql: Sql
  mailer: Mailer
  letterhead?: Letterhead
  /** How many are sent at a time: a mail server that hangs must not take all places for activities. */
  mostAtATime?: number
  encryptionKeys: readonly Buffer[]
  log?: Pick<Logger, 'info'>
}

/** What a borrower is told of who writes. */
interface Letterhead {
  replyTo?: string | undefined
  /** A postal address, and how to get no more emails. */
  footer?: string | undefined
}

/** When to look again at a mail that another sender has under way, which takes a second or two. */
const LOOK_AGAIN_MS = 10_000

/** After this long, a mail that cannot be sent is stale. */
const STALE_MS = 7 * DAY_MS

/** How long to try to write down that a mail was sent. */
const WRITE_MS = 20_000

type Outcome = 'sent' | 'already_sent' | 'not_allowed' | MailRefusal

export type OnboardingMails = ReturnType<typeof createOnboardingMails>

/** The mails that welcome borrowers. One for all of a process, which knows those that are under way. */
export function createOnboardingMails(dependencies: Dependencies) {
  const { sql, mailer, encryptionKeys, log, letterhead = {} } = dependencies
  const { mostAtATime = Number.POSITIVE_INFINITY } = dependencies
  let sendingNow = 0
  const underWay = new Set<Promise<unknown>>()

  async function claimAndSend(leadId: number): Promise<Outcome> {
    const recipient = await onboardingRecipient(sql, leadId, encryptionKeys)
    if (recipient === undefined) return 'already_sent'
    const { partner_id: partnerId, email } = recipient
    const leaveOut = (outcome: 'not_allowed' | MailRefusal) => {
      const mail = { messageId: mailer.messageId(idOf(leadId)), about: aboutOf(leadId, recipient) }
      log?.info(mailFields(mail, { outcome }), 'mail')
      return outcome
    }
    if (!mailer.mayMail(email)) return leaveOut('not_allowed')
    if (sendingNow >= mostAtATime) throw manyUnderWay()
    const claim = {
      leadId,
      partnerId,
      addressHashes: addressHashes(email, 'addresses of onboarding mails', encryptionKeys),
    }
    const claimed = await claimOnboardingMail(sql, claim)
    switch (claimed.kind) {
      case 'settled':
        return 'already_sent'
      case 'refused':
        return leaveOut(claimed.refused)
      case 'under_way':
        throw again('another worker is sending it', Math.min(claimed.forMs, LOOK_AGAIN_MS))
      case 'leased':
    }
    return deliver(leadId, claimed, recipient)
  }

  const trySending = async (leadId: number, recipient: Recipient) =>
    mailer.send({ ...welcome(leadId, recipient, letterhead), messageId: mailer.messageId(idOf(leadId)) })

  /** Sends it under the lease, and writes down what came of it. */
  async function deliver(
    leadId: number,
    { lease, ageMs }: { lease: string; ageMs: number },
    recipient: Recipient,
  ): Promise<Outcome> {
    sendingNow += 1
    const outcome = await trySending(leadId, recipient)
      .catch(async (error: unknown) => {
        // unless it is written, the lease runs out
        await releaseOnboardingMail(sql, leadId, lease).catch(() => {})
        throw ageMs > STALE_MS ? givenUp(error) : error
      })
      .finally(() => (sendingNow -= 1))
    // the server has it: nobody else may send it because PostgreSQL was away for a moment
    await retryFor(() => finishOnboardingMail(sql, leadId), WRITE_MS)
    return outcome
  }

  return {
    /**
     * Welcomes a lead's borrower, once, unless the address was mailed often enough. While another process sends it,
     * Temporal retries it.
     *
     * A mail may come twice, with the same Message-ID, if the process ends after the mail server has taken it and before
     * that is written: nobody can know then whether it was sent.
     */
    send: async (leadId: number): Promise<Outcome> => {
      const sending = claimAndSend(leadId)
      underWay.add(sending)
      return sending.finally(() => underWay.delete(sending))
    },

    /** Resolves once none is under way. */
    settled: async (): Promise<void> => {
      await Promise.allSettled(underWay)
    },
  }
}

const givenUp = (cause: unknown) =>
  ApplicationFailure.create({
    message: `given up after 7 days: ${cause instanceof Error ? cause.message : 'unknown reason'}`,
    type: 'MailRefused',
    nonRetryable: true,
  })

interface Recipient {
  first_name: string
  email: string
  partner_name: string
  partner_id: number
  request_id: string | null
}

const idOf = (leadId: number) => `onboarding-${leadId}`

/** Whom the log names. */
function aboutOf(leadId: number, { partner_id, request_id }: Recipient): MailSubject {
  return { partner_id, lead_id: leadId, ...(request_id !== null && { request_id }) }
}

function welcome(
  leadId: number,
  recipient: Recipient,
  { replyTo, footer }: Letterhead,
): Omit<Mail, 'messageId'> {
  return {
    to: recipient.email,
    subject: 'Your path to a mortgage starts here',
    about: aboutOf(leadId, recipient),
    ...(replyTo !== undefined && { replyTo }),
    text: [
      `Hello ${nameInMail(recipient.first_name, 'there')},`,
      `${nameInMail(recipient.partner_name, 'Your lender')} has referred you to us so that we can help you improve your credit.`,
      'We will contact you about the next steps: creating your account and completing your credit scan.',
      'You do not need to do anything now.',
      ...(footer === undefined ? [] : [`--\n${footer}`]),
    ].join('\n\n'),
  }
}
