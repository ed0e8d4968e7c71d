import { SEQUENCES_LEFT_OUT } from '../src/database/deployment.ts'
import { FAILING_AFTER, REQUEST_LIMIT_MS } from '../src/deliveries/delivery-states.ts'
import { SCHEDULE_DAYS } from '../src/deliveries/retry-schedule.ts'
import {
  describeReason,
  type MailKind,
  PAUSE_AFTER_HOURS,
  PAUSE_AFTER_MS,
} from '../src/endpoints/endpoint-state.ts'
import type { noticeFacts, UnsentNotice } from '../src/endpoints/notices.ts'
import { formatTimestamp } from '../src/values.ts'

type NoticeFacts = Awaited<ReturnType<typeof noticeFacts>>

const subjects: Record<MailKind, string> = {
  failing: 'Webhook endpoint is failing',
  paused: 'Webhook endpoint is paused',
  recovered: 'Webhook endpoint works again',
  url_changed: 'Your webhook endpoint has changed',
  secret_changed: 'Your signing secret has changed',
  restored: 'Our database was restored',
}

/** The mail of a notice: what happened, what to do, the latest attempt. It holds ids and states, no borrower's data. */
export function describeNotice(notice: UnsentNotice, facts: NoticeFacts): { subject: string; text: string } {
  const { partnerId, kind, recipient } = notice
  const forStaff = [
    `To see more: npm run staff -- endpoint show ${partnerId}`,
    `Partner ${partnerId} is told:`,
  ]
  const texts = [
    ...(recipient === 'staff' ? forStaff : []),
    `Hello ${facts.name},`,
    ...whatHappened(notice, facts),
    ...latestAttempt(facts),
  ]
  return { subject: `${subjects[kind]}: ${facts.name}`, text: texts.join('\n\n') }
}

const UNKNOWN_CHANGE =
  'If you know about this change, no action is needed. If you do not, contact us at once: we can undo it and revoke the key.'

const RETRIES = `We retry failed webhooks with exponential backoff for about ${Math.round(SCHEDULE_DAYS)} days. Later webhooks about the same borrower wait until this one is accepted; webhooks about other borrowers are still sent.`
const MEND = `What to do: make sure that your endpoint responds with 200 within ${REQUEST_LIMIT_MS / 1000} seconds. To see the attempts and their outcomes, call POST /v1/get-deliveries. Once your endpoint works, call POST /v1/resume-endpoint to have all waiting webhooks tried at once.`

function whatHappened({ kind, owedAt }: UnsentNotice, facts: NoticeFacts): string[] {
  const { url, state, reason, since, failing_since: failing, open, next_probe_at: probe } = facts
  // the path or query of a webhook's URL may hold a password
  const where = url === null ? 'the endpoint' : `the endpoint at ${new URL(url).origin}`
  const webhooks = `${open} ${open === 1 ? 'webhook is' : 'webhooks are'}`
  switch (kind) {
    case 'failing':
      return [
        `A webhook to ${where} has failed ${FAILING_AFTER} times in a row. ${sinceWhen(failing)}`,
        `${RETRIES} ${webhooks} waiting.`,
        MEND,
      ]
    case 'paused':
      // such a mail may be late
      if (state !== 'paused')
        return [
          `Webhooks to ${where} were paused, and have been sent again since ${formatTimestamp(since)} UTC. No action is needed.`,
        ]
      return [
        `On ${formatTimestamp(since)} UTC, ${where} was paused: ${describeReason(reason)}.`,
        `No webhook is lost. ${webhooks} held, as are those for new events, until the endpoint is resumed.`,
        `What to do: ${adviceWhenPaused(reason, probe)}`,
      ]
    case 'recovered':
      return [
        `Webhooks to ${where} are accepted again. ${webhooks} waiting for the next attempt.`,
        'If your endpoint refused a webhook until its last attempt, we gave that one up: POST /v1/get-deliveries shows it, and POST /v1/resend-webhook sends it again. Otherwise no action is needed.',
      ]
    case 'url_changed':
      return [`Webhooks now go to ${where}, signed with its secret.`, UNKNOWN_CHANGE]
    case 'restored':
      return [restoredText(owedAt)]
    default:
      return [`Webhooks to ${where} are now signed with a new secret.`, UNKNOWN_CHANGE]
  }
}

function sinceWhen(failing: Date | null): string {
  if (failing === null) return 'The endpoint accepts other webhooks.'
  const pausedAt = new Date(failing.getTime() + PAUSE_AFTER_MS)
  return `Every attempt since ${formatTimestamp(failing)} UTC has failed. If the endpoint accepts no webhook until ${formatTimestamp(pausedAt)} UTC, ${PAUSE_AFTER_HOURS} hours later, we pause it.`
}

function adviceWhenPaused(reason: string | null, probe: Date | null): string {
  if (reason === 'partner')
    return 'to send all held webhooks in order, call POST /v1/resume-endpoint. Until then, we do not probe the endpoint. If you do not know about this pause, somebody else has an API key of yours: contact us.'
  if (reason === 'staff')
    return 'contact us. What our staff paused, only our staff can resume, and we do not probe the endpoint until then.'
  return `fix your endpoint. We probe it with the oldest held webhook${probe === null ? '' : ` on ${formatTimestamp(probe)} UTC`}, and then at longer intervals, at least once a day. When it accepts that webhook, we resume it and send all held webhooks in order. To resume sooner, call POST /v1/resume-endpoint.`
}

function latestAttempt({ attempt }: NoticeFacts): string[] {
  if (attempt === undefined) return []
  const { event_id, event_name, lead_id, number, started_at, error_code, hint, next_attempt_at } = attempt
  const next =
    next_attempt_at === null ? '' : `\n  next     on ${formatTimestamp(next_attempt_at)} UTC, in real time`
  return [
    `Latest attempt:
  event    ${event_id} (${event_name} of lead ${lead_id})
  attempt  ${number}, on ${formatTimestamp(started_at)} UTC
  outcome  ${hint ?? error_code}${next}`,
  ]
}

const restoredText = (
  at: Date,
) => `On ${formatTimestamp(at)} UTC, our database was restored from a backup. What this means for your integration:

- Leads that you created, and changes that you sent with update-partner-info, within the last minutes before the failure may be lost: compare list-leads with your own system, and send them again.
- Events of those minutes are recorded again with another event_id, so you may receive one twice.
- You may receive webhooks again that you have. They have the same webhook-id.
- The sequence of a lead's webhooks is strictly increasing, as always, but its next webhook skips ${SEQUENCES_LEFT_OUT} numbers.
- If you poll list-events, it may refuse your cursor: continue with the one in error.next.
- Changes to your endpoint in those minutes may be lost: check get-endpoint, and make them again. If we revoked or issued a key for you in those minutes, contact us.`

/** The sender, as a mail to a borrower shows it. */
export interface Letterhead {
  replyTo?: string | undefined
  /** A postal address, and how to get no more emails. */
  footer?: string | undefined
}

/** The mail that welcomes a borrower. */
export function welcomeText(
  { first_name: name, partner_name: partner }: { first_name: string; partner_name: string },
  { replyTo, footer }: Letterhead,
) {
  return {
    subject: 'Your path to a mortgage starts here',
    ...(replyTo !== undefined && { replyTo }),
    text: [
      `Hello ${nameInMail(name, 'there')},`,
      `${nameInMail(partner, 'Your lender')} has referred you to us so that we can help you improve your credit.`,
      'We will contact you about the next steps: creating your account and completing your credit scan.',
      'You do not need to do anything now.',
      ...(footer === undefined ? [] : [`--\n${footer}`]),
    ].join('\n\n'),
  }
}

/** Characters of a name in a mail; longer ones are cut. */
const MOST_CHARACTERS = 60
/** Digits in a name. More may be a telephone number, which mail programs make a link. */
const MOST_DIGITS = 4
/** Characters without width, or that change the direction of text: they disguise a word. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
/** A word of a name: letters, digits and the signs of names; a dot or comma at its end, or after each letter of initials. */
const WORD = /^(?:[\p{L}\p{M}\p{N}'’·・&-]+[.,]?|(?:\p{L}\.)+)$/u

/**
 * A name for a mail, from a partner's text, in which no mail program finds a link. Words that may be anything but a name, such
 * as a URL or an email address, are left out. With many digits, all words with digits are left out, too.
 *
 * @param fallback what to write if nothing is left.
 */
export function nameInMail(text: string, fallback: string): string {
  const words = text
    .toWellFormed()
    .normalize('NFKC')
    .replaceAll(INVISIBLE, '')
    .split(/[\s\p{C}\p{Z}]+/u)
    .filter((word) => WORD.test(word))
  const digits = words.join('').match(/\p{N}/gu) ?? []
  const kept = digits.length > MOST_DIGITS ? words.filter((word) => !/\p{N}/u.test(word)) : words
  // initials such as J.R.
  const spaced = kept.join(' ').replaceAll(/\.(?=\S)/gu, '. ')
  const name = Array.from(spaced).slice(0, MOST_CHARACTERS).join('').trim()
  return /\p{L}/u.test(name) ? name : fallback
}
