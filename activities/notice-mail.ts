import type { noticeFacts } from '../src/db/endpoints/notices.ts'
import { describeReason, type NoticeKind } from '../src/domain/endpoint.ts'
import { formatTimestamp } from '../src/domain/timestamps.ts'

type NoticeFacts = Awaited<ReturnType<typeof noticeFacts>>

const subjects: Record<NoticeKind, string> = {
  failing: 'Your webhook endpoint is failing',
  given_up: 'We gave up on a webhook',
  paused: 'Your webhook endpoint is paused',
  recovered: 'Your webhook endpoint works again',
}

/** The mails about a notice: what happened, an example, what to do. They hold ids and states, no borrower's data. */
export function describeNotice(
  partnerId: number,
  kind: NoticeKind,
  facts: NoticeFacts,
): { subject: string; forPartner: string; forStaff: string } {
  const about = [whatHappened(kind, facts), ...exampleOf(kind, facts)]
  return {
    subject: `${subjects[kind]}: ${facts.name}`,
    forPartner: [`Hello ${facts.name},`, ...about, adviceForPartner[kind]].join('\n\n'),
    forStaff: [`Partner ${partnerId}, ${facts.name}.`, ...about, adviceForStaff(partnerId)[kind]].join(
      '\n\n',
    ),
  }
}

function whatHappened(kind: NoticeKind, { url, reason, since, failing_since: failing, open }: NoticeFacts) {
  // the path or query of a webhook's URL may hold a password
  const where = url === null ? 'the endpoint' : `the endpoint at ${new URL(url).origin}`
  const webhooks = `${open} ${open === 1 ? 'webhook is' : 'webhooks are'}`
  const none = failing ? ` It has not accepted any webhook since ${formatTimestamp(failing)} UTC.` : ''
  const rest = open === 0 ? 'All waiting webhooks were sent.' : `${webhooks} waiting for the next attempt.`
  const texts: Record<NoticeKind, string> = {
    failing: `A webhook has failed four times in a row at ${where}.${none} We retry failed webhooks with exponential backoff for about three days. Until this webhook is accepted, later ones about the same borrower wait for it; webhooks about other borrowers are still sent. ${webhooks} waiting.`,
    given_up: `We no longer retry a webhook: ${where} accepted others, but not this one at any scheduled attempt. The event is still recorded, and later webhooks about this borrower are sent without it.`,
    paused: `On ${formatTimestamp(since)} UTC, ${where} was paused: ${describeReason(reason)}. We hold its webhooks until it is resumed. No webhook is lost: ${webhooks} held, and we keep recording events and holding their webhooks.`,
    recovered: `Webhooks reach ${where} again. ${rest}`,
  }
  return texts[kind]
}

function exampleOf(kind: NoticeKind, { sample }: NoticeFacts): string[] {
  if (sample === undefined || kind === 'recovered') return []
  const { event_id, event_name, lead_id, number, started_at, status, error_code, hint } = sample
  return [
    [
      kind === 'given_up' ? 'The webhook:' : 'For example:',
      `  event    ${event_id} (${event_name} of lead ${lead_id})`,
      `  attempt  ${number}, on ${formatTimestamp(started_at)} UTC`,
      `  outcome  ${status ?? error_code}${hint === null ? '' : `: ${hint}`}`,
    ].join('\n'),
  ]
}

const adviceForPartner: Record<NoticeKind, string> = {
  failing:
    'What to do: make sure that your endpoint responds with 200 within 15 seconds. To see every attempt and its outcome, call POST /v1/get-deliveries. We pause an endpoint that has not accepted any webhook for 72 hours.',
  given_up:
    'What to do: find out why your endpoint does not accept this event, fix it, and then send the webhook again with POST /v1/resend-webhook. To read the event itself, call POST /v1/get-events.',
  paused:
    'What to do: fix your endpoint. We test it with the oldest held webhook after an hour, and then with exponential backoff, at least once a day. When it accepts that webhook, we resume it and send all held webhooks in order. To resume sooner, contact us. If our staff paused the endpoint, we do not test it: contact us to resume.',
  recovered: 'No action is needed.',
}

const adviceForStaff = (partnerId: number): Record<NoticeKind, string> => ({
  failing: `To see the webhooks: npm run staff -- delivery list --partner ${partnerId} --state pending`,
  given_up: `To send it again: npm run staff -- delivery replay --partner ${partnerId} --state given-up`,
  paused: `When the endpoint works again: npm run staff -- endpoint resume ${partnerId}`,
  recovered: 'No action is needed.',
})
