import type { noticeFacts } from '../src/endpoints/notices.ts'
import { FAILING_AFTER, REQUEST_LIMIT_MS } from '../src/deliveries/delivery-states.ts'
import { describeReason, type MailKind } from '../src/endpoints/endpoint-state.ts'
import { type Environment, formatTimestamp } from '../src/values.ts'
import { FAILING_AFTER_MINUTES, PAUSE_AFTER_HOURS, SCHEDULE_DAYS } from '../src/deliveries/retry-schedule.ts'

type NoticeFacts = Awaited<ReturnType<typeof noticeFacts>>

const subjects: Record<MailKind, string> = {
  failing: 'Webhook endpoint is failing',
  given_up: 'A webhook was given up',
  paused: 'Webhook endpoint is paused',
  recovered: 'Webhook endpoint works again',
  url_changed: 'Your webhook endpoint has changed',
  secret_changed: 'Your signing secret has changed',
}

/** The mails about a notice: what happened, the latest attempt, what to do. They hold ids and states, no borrower's data. */
export function describeNotice(
  partnerId: number,
  kind: MailKind,
  facts: NoticeFacts,
  environment: Environment,
): { subject: string; forPartner: string; forStaff: string } {
  const about = [...whatHappened(kind, facts), ...latestAttempt(kind, facts)]
  // in production, only where staff allowed it
  const toResume =
    environment === 'sandbox' || facts.self_service ? 'call POST /v1/resume-endpoint' : 'ask us'
  return {
    subject: `${subjects[kind]}: ${facts.name}`,
    forPartner: [`Hello ${facts.name},`, ...about, adviceForPartner(facts, toResume)[kind]].join('\n\n'),
    forStaff: [`Partner ${partnerId}, ${facts.name}.`, ...about, adviceForStaff(partnerId, facts)[kind]].join(
      '\n\n',
    ),
  }
}

/** One of the two copies was late: the endpoint was resumed meanwhile. */
const isOver = ({ state }: NoticeFacts) => state !== 'paused'

function whatHappened(kind: MailKind, facts: NoticeFacts) {
  const { url, reason, since, failing_since: failing, open, sample } = facts
  // the path or query of a webhook's URL may hold a password
  const where = url === null ? 'the endpoint' : `the endpoint at ${new URL(url).origin}`
  const webhooks = `${open} ${open === 1 ? 'webhook is' : 'webhooks are'}`
  const none = failing ? ` Every attempt since ${formatTimestamp(failing)} UTC has failed.` : ''
  const first = sample?.first_at ? `, first on ${formatTimestamp(sample.first_at)} UTC` : ''
  const rest = open === 0 ? 'No webhook is waiting.' : `${webhooks} waiting for the next attempt.`
  const texts: Record<MailKind, string[]> = {
    failing: [
      `A webhook to ${where} has failed at least ${FAILING_AFTER} times in a row${first}.${none} We tell you only then, in production at least ${FAILING_AFTER_MINUTES} minutes after the first failure: shorter interruptions need no action.`,
      `We retry failed webhooks with exponential backoff for about ${Math.round(SCHEDULE_DAYS)} days. Later webhooks about the same borrower wait until this one is accepted; webhooks about other borrowers are still sent. ${webhooks} waiting.`,
    ],
    given_up: [
      `We gave up on a webhook: ${where} accepted others, but not this one at any scheduled attempt.`,
      'The event is still recorded, and later webhooks about this borrower are sent without it.',
    ],
    paused: isOver(facts)
      ? [
          `${where[0]?.toUpperCase()}${where.slice(1)} was paused, and takes webhooks again since ${formatTimestamp(since)} UTC.`,
        ]
      : [
          `On ${formatTimestamp(since)} UTC, ${where} was paused${reason === 'partner' ? ' with POST /v1/pause-endpoint' : `: ${describeReason(reason)}`}.`,
          `No webhook is lost: ${open === 0 ? 'those for new events are held' : `${webhooks} held, as are those for new events,`} until the endpoint is resumed.`,
        ],
    recovered: [`Webhooks to ${where} are accepted again. ${rest}`],
    url_changed: [`Webhooks now go to ${where}, signed with its secret.`],
    secret_changed: [`Webhooks to ${where} are now signed with a new secret.`],
  }
  return texts[kind]
}

function latestAttempt(kind: MailKind, facts: NoticeFacts): string[] {
  const { sample } = facts
  if (sample === undefined || !['failing', 'given_up', 'paused'].includes(kind)) return []
  const { event_id, event_name, lead_id, number, started_at, error_code, hint } = sample
  const next = kind === 'failing' && facts.next_attempt_at
  return [
    [
      kind === 'paused' ? 'Latest failed attempt at a webhook that waits:' : 'Latest failed attempt:',
      `  event    ${event_id} (${event_name} of lead ${lead_id})`,
      `  attempt  ${number}, on ${formatTimestamp(started_at)} UTC`,
      `  outcome  ${hint ?? error_code}`,
      ...(next ? [`  next     on ${formatTimestamp(next)} UTC, in real time`] : []),
    ].join('\n'),
  ]
}

const UNKNOWN_CHANGE =
  'If you know about this change, no action is needed. If you do not, contact us at once: we can undo it and revoke the key.'

const adviceForPartner = (facts: NoticeFacts, toResume: string): Record<MailKind, string> => ({
  failing: `What to do: make sure that your endpoint responds with 200 within ${REQUEST_LIMIT_MS / 1000} seconds. To see every attempt and its outcome, call POST /v1/get-deliveries. Once your endpoint works, ${toResume} to have all waiting webhooks tried at once. If it accepts no webhook for ${PAUSE_AFTER_HOURS} hours, we pause it.`,
  given_up:
    'What to do: find out why your endpoint does not accept this event, fix it, and then send the webhook again with POST /v1/resend-webhook. To find it and to read its body, call POST /v1/get-deliveries.',
  paused: adviceWhenPaused(facts, toResume),
  recovered: 'No action is needed.',
  url_changed: UNKNOWN_CHANGE,
  secret_changed: UNKNOWN_CHANGE,
})

function adviceWhenPaused(facts: NoticeFacts, toResume: string): string {
  if (isOver(facts)) return 'No action is needed.'
  const { reason, next_probe_at: probe } = facts
  if (reason === 'partner')
    return `What to do: to send all held webhooks in order, ${toResume}. Until then, we do not probe the endpoint. If you do not know about this pause, somebody else has an API key of yours: contact us.`
  if (reason === 'staff')
    return 'What to do: contact us. What our staff paused, only our staff can resume, and we do not probe the endpoint until then.'
  return `What to do: fix your endpoint. We probe it with the oldest held webhook ${probe === null ? 'after an hour' : `on ${formatTimestamp(probe)} UTC`}, and then at longer intervals, at least once a day. When it accepts that webhook, we resume it and send all held webhooks in order. To resume sooner, ${toResume}.`
}

const adviceForStaff = (partnerId: number, facts: NoticeFacts): Record<MailKind, string> => ({
  failing: `To see the webhooks: npm run staff -- delivery list --partner ${partnerId} --state pending`,
  given_up: `To send it again: npm run staff -- delivery resend ${facts.sample?.event_id ?? 'EVENT'}`,
  paused: isOver(facts)
    ? 'No action is needed.'
    : facts.reason === 'partner'
      ? `The partner can resume it. To resume it for them: npm run staff -- endpoint resume ${partnerId}`
      : `When the endpoint works again: npm run staff -- endpoint resume ${partnerId}`,
  recovered: 'No action is needed.',
  url_changed: whoChangedIt(partnerId),
  secret_changed: whoChangedIt(partnerId),
})

const whoChangedIt = (partnerId: number) =>
  `To see who changed it: npm run staff -- audit list --partner ${partnerId}`
