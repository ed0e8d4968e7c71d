import type { noticeFacts } from '../src/db/endpoints/notices.ts'
import { describeReason, type NoticeKind } from '../src/domain/endpoint.ts'
import { formatTimestamp } from '../src/domain/timestamps.ts'

export type NoticeFacts = Awaited<ReturnType<typeof noticeFacts>>

const subjects: Record<NoticeKind, string> = {
  failing: 'Your webhook endpoint is failing',
  given_up: 'A webhook was given up',
  paused: 'Your webhook endpoint is paused',
  recovered: 'Your webhook endpoint works again',
}

/** A notice in words: what happened and why, a sample, and what to do. Ids and states, no borrower's data. */
export function describeNotice(
  partnerId: number,
  kind: NoticeKind,
  facts: NoticeFacts,
): { subject: string; forPartner: string; forStaff: string } {
  const about = [whatHappened(kind, facts), ...sampleOf(kind, facts)]
  const subject = `${subjects[kind]}: ${facts.name}`
  return {
    subject,
    forPartner: [`Hello ${facts.name},`, ...about, adviceForPartner[kind]].join('\n\n'),
    forStaff: [`Partner ${partnerId}, ${facts.name}.`, ...about, adviceForStaff(partnerId)[kind]].join(
      '\n\n',
    ),
  }
}

function whatHappened(kind: NoticeKind, { url, reason, since, failing_since: failing, open }: NoticeFacts) {
  // the path or query of a webhook's URL may hold a password
  const where = url === null ? 'the endpoint' : `the endpoint at ${new URL(url).origin}`
  const waiting = `${open} ${open === 1 ? 'webhook is' : 'webhooks are'} waiting`
  if (kind === 'paused') {
    return `On ${formatTimestamp(since)} UTC, ${where} was paused: ${describeReason(reason)}. No webhooks are lost: ${waiting}, and webhooks for new events wait with them.`
  }
  if (kind === 'recovered') {
    const rest = open === 0 ? 'All waiting webhooks were sent.' : `${waiting} for their next attempt.`
    return `Webhooks reach ${where} again. ${rest}`
  }
  if (kind === 'given_up') {
    return `We gave up on a webhook: ${where} accepted others, but not this one at any scheduled attempt. The lead's next webhooks are sent without it.`
  }
  const only =
    failing === null ? '' : ` The endpoint has accepted none since ${formatTimestamp(failing)} UTC.`
  return `A webhook failed for the fourth time in a row at ${where}.${only} We retry it for days; ${waiting}.`
}

function sampleOf(kind: NoticeKind, { sample }: NoticeFacts): string[] {
  if (sample === undefined || kind === 'recovered') return []
  const { event_id, event_name, lead_id, number, started_at, status, error_code, hint } = sample
  return [
    [
      'For example:',
      `  event    ${event_id} (${event_name} of lead ${lead_id})`,
      `  attempt  ${number}, on ${formatTimestamp(started_at)} UTC`,
      `  outcome  ${status ?? error_code}${hint === null ? '' : `: ${hint}`}`,
    ].join('\n'),
  ]
}

const adviceForPartner: Record<NoticeKind, string> = {
  failing:
    'What to do: make sure that the endpoint answers 200 within 15 seconds. POST /v1/get-deliveries lists every attempt and its outcome. We pause an endpoint that fails for 72 hours without a success.',
  given_up:
    'What to do: fix what rejects this event, then send the webhook again with POST /v1/resend-webhook. POST /v1/get-events has the event itself.',
  paused:
    'What to do: fix the endpoint. We test it with the oldest waiting webhook after an hour, and then with exponential backoff, at least once a day. Once it accepts that webhook, we send all others in order. To resume sooner, or if our staff paused the endpoint, contact us.',
  recovered: 'No action is needed.',
}

const adviceForStaff = (partnerId: number): Record<NoticeKind, string> => ({
  failing: `To see more: npm run staff -- delivery list --partner ${partnerId} --state pending`,
  given_up: `To send it again: npm run staff -- delivery replay --partner ${partnerId} --state given-up`,
  paused: `Once it is back: npm run staff -- endpoint resume ${partnerId}`,
  recovered: 'No action is needed.',
})
