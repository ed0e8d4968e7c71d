import { SEQUENCES_LEFT_OUT } from '../src/database/deployment.ts'
import { FAILING_AFTER, REQUEST_LIMIT_MS } from '../src/deliveries/delivery-states.ts'
import { PAUSE_AFTER_HOURS, PAUSE_AFTER_MS, SCHEDULE_DAYS } from '../src/deliveries/retry-schedule.ts'
import { describeReason, type MailKind } from '../src/endpoints/endpoint-state.ts'
import type { noticeFacts, UnsentNotice } from '../src/endpoints/notices.ts'
import { formatTimestamp } from '../src/values.ts'

type NoticeFacts = Awaited<ReturnType<typeof noticeFacts>>

const subjects: Record<MailKind, string> = {
  failing: 'Webhook endpoint is failing',
  paused: 'Webhook endpoint is paused',
  recovered: 'Webhook endpoint works again',
  url_changed: 'Your webhook endpoint has changed',
  secret_changed: 'Your signing secret has changed',
}

/** The mails about a notice: what happened, the latest attempt, what to do. They hold ids and states, no borrower's data. */
export function describeNotice(
  { partnerId, kind }: UnsentNotice,
  facts: NoticeFacts,
): { subject: string; forPartner: string; forStaff: string } {
  const about = [...whatHappened(facts)[kind], ...latestAttempt(facts)]
  const forPartner = [`Hello ${facts.name},`, ...about, adviceForPartner(facts)[kind]].join('\n\n')
  const forStaff = `To see more: npm run staff -- endpoint show ${partnerId}\n\nPartner ${partnerId} is told:\n\n${forPartner}`
  return { subject: `${subjects[kind]}: ${facts.name}`, forPartner, forStaff }
}

/** A mail about a pause may be late: the endpoint was resumed meanwhile. */
const isOver = ({ state }: NoticeFacts) => state !== 'paused'

function whatHappened(facts: NoticeFacts): Record<MailKind, string[]> {
  const { url, reason, since, failing_since: failing, open } = facts
  // the path or query of a webhook's URL may hold a password
  const where = url === null ? 'the endpoint' : `the endpoint at ${new URL(url).origin}`
  const webhooks = `${open} ${open === 1 ? 'webhook is' : 'webhooks are'}`
  const pausedAt = failing && new Date(failing.getTime() + PAUSE_AFTER_MS)
  const none =
    failing && pausedAt
      ? `Every attempt since ${formatTimestamp(failing)} UTC has failed. If the endpoint accepts no webhook until ${formatTimestamp(pausedAt)} UTC, ${PAUSE_AFTER_HOURS} hours later, we pause it.`
      : 'The endpoint accepts others.'
  const why = reason === 'partner' ? ' with POST /v1/pause-endpoint' : `: ${describeReason(reason)}`
  return {
    failing: [
      `A webhook to ${where} has failed ${FAILING_AFTER} times in a row. ${none}`,
      `We retry failed webhooks with exponential backoff for about ${Math.round(SCHEDULE_DAYS)} days. Later webhooks about the same borrower wait until this one is accepted; webhooks about other borrowers are still sent. ${webhooks} waiting.`,
    ],
    paused: isOver(facts)
      ? [`Webhooks to ${where} were paused, and are sent again since ${formatTimestamp(since)} UTC.`]
      : [
          `On ${formatTimestamp(since)} UTC, ${where} was paused${why}.`,
          `No webhook is lost. ${webhooks} held, as are those for new events, until the endpoint is resumed.`,
        ],
    recovered: [`Webhooks to ${where} are accepted again. ${webhooks} waiting for the next attempt.`],
    url_changed: [`Webhooks now go to ${where}, signed with its secret.`],
    secret_changed: [`Webhooks to ${where} are now signed with a new secret.`],
  }
}

function latestAttempt({ attempt }: NoticeFacts): string[] {
  if (attempt === undefined) return []
  const { event_id, event_name, lead_id, number, started_at, error_code, hint } = attempt
  const { next_attempt_at: nextAt } = attempt
  const lines = [
    'Latest attempt:',
    `  event    ${event_id} (${event_name} of lead ${lead_id})`,
    `  attempt  ${number}, on ${formatTimestamp(started_at)} UTC`,
    `  outcome  ${hint ?? error_code}`,
  ]
  if (nextAt) lines.push(`  next     on ${formatTimestamp(nextAt)} UTC, in real time`)
  return [lines.join('\n')]
}

const NOTHING_TO_DO = 'No action is needed.'
const UNKNOWN_CHANGE =
  'If you know about this change, no action is needed. If you do not, contact us at once: we can undo it and revoke the key.'

const adviceForPartner = (facts: NoticeFacts): Record<MailKind, string> => ({
  failing: `What to do: make sure that your endpoint responds with 200 within ${REQUEST_LIMIT_MS / 1000} seconds. To see every attempt and its outcome, call POST /v1/get-deliveries. Once your endpoint works, call POST /v1/resume-endpoint to have all waiting webhooks tried at once.`,
  paused: adviceWhenPaused(facts),
  recovered:
    'If your endpoint refused a webhook at all of its attempts, we gave that one up: POST /v1/get-deliveries shows it, and POST /v1/resend-webhook sends it again. Otherwise no action is needed.',
  url_changed: UNKNOWN_CHANGE,
  secret_changed: UNKNOWN_CHANGE,
})

function adviceWhenPaused(facts: NoticeFacts): string {
  if (isOver(facts)) return NOTHING_TO_DO
  const { reason, next_probe_at: probe } = facts
  if (reason === 'partner')
    return 'What to do: to send all held webhooks in order, call POST /v1/resume-endpoint. Until then, we do not probe the endpoint. If you do not know about this pause, somebody else has an API key of yours: contact us.'
  if (reason === 'staff')
    return 'What to do: contact us. What our staff paused, only our staff can resume, and we do not probe the endpoint until then.'
  return `What to do: fix your endpoint. We probe it with the oldest held webhook ${probe === null ? 'after an hour' : `on ${formatTimestamp(probe)} UTC`}, and then at longer intervals, at least once a day. When it accepts that webhook, we resume it and send all held webhooks in order. To resume sooner, call POST /v1/resume-endpoint.`
}

/** The mail to a partner about a restore of the record. */
export const restoredText = (name: string, at: Date) => `Hello ${name},

On ${formatTimestamp(at)} UTC, our database was restored from a backup. What this means for your integration:

- Leads that you created, and changes that you sent with update-partner-info, within the last minutes before the failure may be lost: compare list-leads with your own system, and send them again.
- Events of those minutes are recorded again with another event_id, so you may receive one twice.
- You may receive webhooks again that you have. They have the same webhook-id.
- The sequence of a lead's webhooks is strictly increasing, as always, but its next webhook skips ${SEQUENCES_LEFT_OUT} numbers.
- If you poll list-events, your cursor may be refused. The error says where to go on.
- API keys that you revoked, and a URL or secret of your endpoint that you changed in those minutes, may be back: check get-endpoint, and change them again.
`

/** What a borrower is told of who writes. */
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
/** Digits of a name. With more, it may have a telephone number, of which mail programs make a link. */
const MOST_DIGITS = 4

/** Also a dot of domains; NFKC makes the others one of the two. */
const IDEOGRAPHIC_DOT = '。'
/** Without width or that turn the direction of text: with one of them inside, a word is not what it seems to be. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
/** An email address, a scheme, markup, a path of Windows, or a domain: a dot before two characters or more. */
const LINK = /[@<>\\]|\/\/|^\p{L}+:|^www\.|[^\s.]\.[^\s.]{2}/u
const NUMBERS = / ?\p{N}[\p{N}\p{P} ]*/gu
/** What no name has. */
const OTHERS = /[^\p{L}\p{M}\p{N}'’·・.,& -]/gu

/**
 * Text of a partner as a mail may contain it: a name, of which no mail program makes a link, whatever the partner wrote.
 * Words that are a URL, a domain or an email address are left out, and so are all digits if they are many; what other words
 * have beside letters, digits and the signs of names becomes a space.
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
  const digits = cut.match(/\p{N}/gu) ?? []
  const name = (digits.length > MOST_DIGITS ? cut.replaceAll(NUMBERS, ' ') : cut).trim()
  return /\p{L}/u.test(name) ? name : fallback
}
