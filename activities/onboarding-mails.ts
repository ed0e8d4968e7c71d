import { ApplicationFailure } from '@temporalio/common'
import type { Logger } from 'pino'
import type { Sql } from '../src/database/sql.ts'
import {
  claimOnboardingMail,
  finishOnboardingMail,
  type MailRefusal,
  onboardingRecipient,
  releaseOnboardingMail,
} from '../src/leads/onboarding-mail.ts'
import { addressHashes } from '../src/seal.ts'
import { DAY_MS } from '../src/values.ts'
import { again, retryFor } from './activity-context.ts'
import { type Mail, type Mailer, mailFields, type MailSubject, manyUnderWay } from './mailer.ts'

/** Characters of a name in a mail; longer ones are cut. */
const MOST_CHARACTERS = 60
/** Digits of a name, apart from letters; with more, it may be a telephone number, of which mail programs make a link. */
const MOST_DIGITS = 4

const BETWEEN_LETTERS = /[^\p{L}\p{M}]+/gu
const DIGITS = /\p{N}+/gu
/** Also a dot of domains; NFKC makes the others one of the two. */
const IDEOGRAPHIC_DOT = '。'
/** Without width or that turn the direction of text: with one of them inside, a word is not what it seems to be. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
/** An email address, a scheme, markup, a path of Windows, or a domain: a dot before two characters or more. */
const LINK = /[@<>\\]|\/\/|^\p{L}+:|^www\.|[^\s.]\.[^\s.]{2}/u
/** What no name has. */
const OTHERS = /[^\p{L}\p{M}\p{N}'’·・.,& -]/gu
/** One that joins nothing. */
const LOOSE_HYPHEN = /(?<![\p{L}\p{M}\p{N}])-|-(?![\p{L}\p{N}])/gu

/**
 * Text of a partner as a mail may contain it: a name, of which no mail program makes a link, whatever the partner wrote.
 * Words that are a URL, a domain or an email address are left out; what other words have beside letters, digits and the
 * signs of names becomes a space.
 *
 * @param fallback what to write if nothing is left.
 */
export function nameInMail(text: string, fallback: string): string {
  const words = text
    .toWellFormed()
    .normalize('NFKC')
    .replaceAll(INVISIBLE, '')
    .replaceAll(IDEOGRAPHIC_DOT, '.')
    .split(/[\s\p{C}\p{Z}]+/u)
    .filter((word) => !LINK.test(word))
  const spaced = words
    .join(' ')
    .replaceAll(OTHERS, ' ')
    // initials such as J.R.
    .replaceAll(/\.(?=[^\s.])/gu, '. ')
    .replaceAll(/\.{2,}/gu, '.')
  const cut = Array.from(spaced.replaceAll(/\s+/gu, ' ').trim()).slice(0, MOST_CHARACTERS).join('')
  const name = withoutTelephones(cut).replaceAll(LOOSE_HYPHEN, ' ').replaceAll(/\s+/gu, ' ').trim()
  return /\p{L}/u.test(name) ? name : fallback
}

/** Each stretch between letters is read once. Digits that adjoin a letter belong to a word, such as `Ada42`. */
function withoutTelephones(text: string): string {
  return text.replaceAll(BETWEEN_LETTERS, (stretch, start: number) => {
    const follows = start > 0
    const precedes = start + stretch.length < text.length
    const numbers = [...stretch.matchAll(DIGITS)]
      .map(({ 0: digits, index }) => ({ digits, index, end: index + digits.length }))
      .filter(({ index, end }) => !(follows && index === 0) && !(precedes && end === stretch.length))
    const [first, last] = [numbers[0], numbers.at(-1)]
    const digits = Array.from(numbers.map((number) => number.digits).join('')).length
    if (first === undefined || last === undefined || digits <= MOST_DIGITS) return stretch
    return `${stretch.slice(0, first.index)} ${stretch.slice(last.end)}`
  })
}

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
