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
  const waiting = `${open} ${open === 1 ? 'webhook waits' : 'webhooks wait'}`
  if (kind === 'paused') {
    return `On ${formatTimestamp(since)} UTC ${where} was paused: ${describeReason(reason)}. Nothing is lost: ${waiting}, and those of new events will.`
  }
  if (kind === 'recovered') {
    return `Webhooks reach ${where} again. ${open === 0 ? 'All that waited were sent.' : `${waiting} for a next attempt.`}`
  }
  if (kind === 'given_up') {
    return `A webhook was given up: ${where} took others, and refused this one through the whole schedule of attempts. The lead's next webhooks go on without it.`
  }
  const only = failing === null ? '' : ` It has taken nothing since ${formatTimestamp(failing)} UTC.`
  return `A webhook failed for the fourth time in a row at ${where}.${only} It is tried again for days; ${waiting}.`
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
    'What to do: make the endpoint answer 200 within 15 seconds. POST /v1/get-deliveries shows every attempt and its outcome. After 72 hours without one success the endpoint is paused.',
  given_up:
    'What to do: correct what refuses the event, then send it again with POST /v1/resend-webhook. POST /v1/get-events has what it told.',
  paused:
    'What to do: bring the endpoint back. It is tried with the oldest webhook after an hour, then ever more rarely, at least daily; once it takes that, all others follow in order. To have it sooner, or where our staff paused it, ask us for a resume.',
  recovered: 'You need not do anything.',
}

const adviceForStaff = (partnerId: number): Record<NoticeKind, string> => ({
  failing: `To see more: npm run staff -- delivery list --partner ${partnerId} --state pending`,
  given_up: `To send it again: npm run staff -- delivery replay --partner ${partnerId} --state given-up`,
  paused: `Once it is back: npm run staff -- endpoint resume ${partnerId}`,
  recovered: 'Nothing is to be done.',
})
