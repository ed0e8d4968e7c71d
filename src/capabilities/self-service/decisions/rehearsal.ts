import type { AttemptOutcome } from '../../../core/deliveries/decisions/attempt-outcome.ts'
import type { EventPayload } from '../../../core/leads/decisions/event-payloads.ts'
import {
  type ClosedPayload,
  LEAD_CLOSED_WEBHOOK,
  type WebhookName,
} from '../../../core/leads/decisions/closed-webhook.ts'
import { type CheckReport, judge } from './certification.ts'

/**
 * A rehearsal sends the webhooks of made-up leads as they come on bad days. A good receiver accepts all of them: what it
 * must refuse is in a certification.
 */

/** How a request goes over the network: at once, in pieces over some seconds, or cut off in the middle of its body. */
export type Sending = 'whole' | 'slow' | 'interrupted'

export interface RehearsedRequest {
  /** Which webhook of the lead's journey it is. */
  sequence: number
  sending: Sending
  /** Sent again after it was settled, so with the header `webhook-replay`. */
  isReplay: boolean
  /** Of a type that was added later. */
  hasUnknownType: boolean
  /** Has fields that were added later. */
  hasUnknownFields: boolean
  /** Signed with two secrets, as while one is rotated; the signature of the receiver's is the second. */
  isRotated: boolean
}

interface Rehearsal {
  /** What we send. */
  sends: string
  /** What to change if the receiver does not accept it. */
  hint: string
  requests: readonly RehearsedRequest[]
}

const GAINS = { experian_gain: 12, equifax_gain: 9, transunion_gain: 14 }

/** What the made-up leads reach, in order. */
export const rehearsedJourney: readonly {
  name: WebhookName
  payload: EventPayload | ClosedPayload
  /** After the first, in days. */
  day: number
}[] = [
  { name: 'lead_received', payload: null, day: 0 },
  { name: 'client_account_created', payload: null, day: 1 },
  { name: 'credit_scan_completed', payload: null, day: 2 },
  { name: 'contract_signed', payload: null, day: 5 },
  { name: 'escrow_funded', payload: null, day: 10 },
  { name: 'score_update', payload: { ...GAINS, estimated_time_remaining: '60-90 days' }, day: 55 },
  { name: 'score_update', payload: { ...GAINS, estimated_time_remaining: '30-60 days' }, day: 100 },
  { name: 'mortgage_ready', payload: null, day: 120 },
  { name: LEAD_CLOSED_WEBHOOK, payload: { reason: 'mortgage_ready' }, day: 150 },
]

const sent = (sequence: number, how: Partial<RehearsedRequest> = {}): RehearsedRequest => ({
  sequence,
  sending: 'whole',
  isReplay: false,
  hasUnknownType: false,
  hasUnknownFields: false,
  isRotated: false,
  ...how,
})

const replayed = (sequence: number) => sent(sequence, { isReplay: true })

/** In their order. Each is about a lead of its own. */
const rehearsals = {
  journey: {
    sends: 'the whole journey of a lead, in order',
    hint: 'Respond with 200 to each type of webhook, also about a lead that you do not know: store it, and look into it later. An error makes us send it again and again, and holds up the webhooks after it.',
    requests: rehearsedJourney.map((_, index) => sent(index + 1)),
  },
  repeats: {
    sends: 'webhooks twice in a row, and all of them once more after the last',
    hint: 'Webhooks are delivered at least once: store each webhook-id that you have handled, and respond with 200 when it comes again, also after later ones of its lead.',
    requests: [...[1, 1, 2, 2, 3, 3].map((sequence) => sent(sequence)), ...[1, 2, 3].map(replayed)],
  },
  late: {
    sends: 'a webhook after later ones of its lead, as when it is resent',
    hint: 'Respond with 200 to a webhook whose sequence is lower than one that you have: it was given up, and resent later. Keep its event, and do not let it replace a later state.',
    requests: [sent(1), sent(2), sent(4), sent(5), replayed(3)],
  },
  early: {
    sends: 'a webhook before all others of its lead',
    hint: 'Respond with 200 to a webhook whose sequence leaves some out, also if it is the first of a lead: the ones before it were given up, and may be resent, and the answer to your create-lead may still be on its way.',
    requests: [sent(4), sent(5), replayed(1)],
  },
  unknown: {
    sends: 'a webhook of an unknown type, and one with unknown fields',
    hint: 'Respond with 200 to types that you do not know, and ignore them. Ignore fields that you do not know. New ones may be added.',
    requests: [sent(1), sent(2, { hasUnknownType: true }), sent(3, { hasUnknownFields: true })],
  },
  rotation: {
    sends: 'a webhook with two signatures, of which the second is by your secret',
    hint: 'While a secret is rotated, webhook-signature has one signature for each secret, separated by spaces: accept the webhook if any of them is valid.',
    requests: [sent(1), sent(2, { isRotated: true })],
  },
  slow: {
    sends: 'a webhook whose body arrives in pieces over two seconds',
    hint: 'Read the whole body before you verify it, and give a request at least ten seconds to arrive.',
    requests: [sent(1), sent(2, { sending: 'slow' }), sent(3)],
  },
  interrupted: {
    sends: 'a webhook that is cut off in the middle of its body, and then sent whole',
    hint: 'Do not handle a request, or store its webhook-id, before its whole body has arrived and its signature is verified. Then respond with 200 when the webhook comes again.',
    requests: [sent(1), sent(2, { sending: 'interrupted' }), sent(2), sent(3)],
  },
} as const satisfies Record<string, Rehearsal>

const EXPECTED = 'a 2xx status for each'

export type RehearsalCheck = keyof typeof rehearsals

export const rehearsalChecks = Object.keys(rehearsals) as RehearsalCheck[]

export const requestsOf = (check: RehearsalCheck): readonly RehearsedRequest[] => rehearsals[check].requests

export const describeRehearsal = (check: RehearsalCheck): string => rehearsals[check].sends

/** Whether the next request of its check is sent: all that a receiver must accept, it has accepted so far. */
export const isTaken = ({ sending }: RehearsedRequest, { ok }: Pick<AttemptOutcome, 'ok'>): boolean =>
  ok || sending === 'interrupted'

/**
 * Judges the responses to a check: passed if every request that was sent whole got a complete 2xx in time, otherwise by the
 * first that did not, which is the last.
 *
 * @param outcomes one for each request that was sent, in order.
 * @param clock what is wrong with the receiver's clock, in words.
 */
export function judgeRehearsal(
  check: RehearsalCheck,
  outcomes: readonly AttemptOutcome[],
  clock?: string,
): CheckReport<RehearsalCheck> {
  const { sends, hint, requests } = rehearsals[check]
  const durationMs = outcomes.reduce((sum, outcome) => sum + outcome.durationMs, 0)
  const last = outcomes.at(-1)
  if (last === undefined) throw new Error(`nothing was sent for ${check}`)
  const report = judge(check, { sends, hint, expects: 'accepted' }, { ...last, durationMs }, { clock })
  if (report.result === 'passed')
    return {
      ...report,
      expected: EXPECTED,
      received: `status ${last.status} for the last of ${requests.length}`,
    }
  const { name } = rehearsedJourney[(requests[outcomes.length - 1]?.sequence ?? 0) - 1] ?? {}
  return {
    ...report,
    expected: EXPECTED,
    received: `${report.received} (${name}, request ${outcomes.length} of ${requests.length})`,
    hint: hintFor(last, report.hint, hint),
  }
}

/** Here, an error or no response is what the check is about. */
function hintFor({ status }: AttemptOutcome, judged: string | null, ofCheck: string): string | null {
  if (status === null) return `No complete response came. ${ofCheck}`
  return status >= 500 ? `Your endpoint had an error of its own: see its log. ${ofCheck}` : judged
}

/** The report of a check that is not sent, because nothing answered the one before. */
export const notRehearsed = (check: RehearsalCheck): CheckReport<RehearsalCheck> => ({
  check,
  sent: rehearsals[check].sends,
  result: 'not_judged',
  expected: EXPECTED,
  received: 'not sent: an earlier check got no response',
  duration_ms: null,
  hint: 'Repair the check that got no response, and run it again.',
})
