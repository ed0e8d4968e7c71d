import type { EventPayload } from '../../../core/leads/decisions/event-payloads.ts'
import {
  type ClosedPayload,
  LEAD_CLOSED_WEBHOOK,
  type WebhookName,
} from '../../../core/leads/decisions/closed-webhook.ts'
import { type CheckReport, judge, type JudgedOutcome } from './certification.ts'

/**
 * A rehearsal sends the webhooks of made-up leads as they come on bad days. A good receiver accepts all of them: what it
 * must refuse is in a certification.
 */

/**
 * How a request goes over the network: at once, in pieces over some seconds, cut off in the middle of its body, or closed
 * once its body was sent, without reading an answer, as we do after our time limit.
 */
export type Sending = 'whole' | 'slow' | 'interrupted' | 'unanswered'

/** Which secrets signed a request, in the order of its signatures: the receiver's, and as in a rotation another one. */
export type Signing = 'own' | 'other_then_own' | 'own_then_other'

export interface RehearsedRequest {
  /** Which webhook of the lead's journey it is. */
  sequence: number
  sending: Sending
  /** How long after the request before it, at least; 0 for at once. */
  afterMs: number
  /** Sent again after it was settled, so with the header `webhook-replay`. */
  isReplay: boolean
  /** Of a type that was added later. */
  hasUnknownType: boolean
  /** Has fields that were added later. */
  hasUnknownFields: boolean
  signing: Signing
}

interface Rehearsal {
  /** What we send. */
  sends: string
  /** What a good receiver does. */
  does: string
  /** What a good receiver has afterwards, which only its own records show. */
  leaves: string
  /** What to change if the receiver does not accept it. */
  hint: string
  requests: readonly RehearsedRequest[]
}

/** One that no receiver can know. */
export const UNKNOWN_TYPE = 'rehearsal.unknown_type'

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
  afterMs: 0,
  isReplay: false,
  hasUnknownType: false,
  hasUnknownFields: false,
  signing: 'own',
  ...how,
})

const replayed = (sequence: number) => sent(sequence, { isReplay: true })

/** As the first retry of a webhook. */
const RETRY_MS = 5000

/** In their order. Each is about a lead of its own. */
const rehearsals = {
  journey: {
    sends: 'the whole journey of a lead, in order',
    does: 'accepts each type, also about a lead that it does not know',
    leaves: 'the nine events of one lead',
    hint: 'Respond with 200 to each type of webhook, also about a lead that you do not know: store it, and look into it later. An error makes us send it again and again, and holds up the webhooks after it.',
    requests: rehearsedJourney.map((_, index) => sent(index + 1)),
  },
  repeats: {
    sends: 'webhooks twice in a row, and all of them once more after the last',
    does: 'accepts each, and handles each webhook-id once',
    leaves: 'three events, and not nine',
    hint: 'Webhooks are delivered at least once: store each webhook-id that you have handled, and respond with 200 when it comes again, also after later ones of its lead.',
    requests: [...[1, 1, 2, 2, 3, 3].map((sequence) => sent(sequence)), ...[1, 2, 3].map(replayed)],
  },
  repeats_later: {
    sends:
      'webhooks once more, as hours later: the same webhook-id, a new webhook-timestamp, after other webhooks',
    does: 'knows the webhook-id from hours ago, and accepts it without handling it again',
    leaves: 'five events, and not seven',
    hint: 'Respond with 200 to a webhook-id that you have handled, however many came since: a failed webhook is tried for days. Only the header webhook-timestamp says whether a request is fresh; the timestamp in the body is that of the event, and may be old.',
    requests: [1, 2, 3, 4, 5, 1, 2].map((sequence) => sent(sequence)),
  },
  late: {
    sends: 'a webhook after later ones of its lead, as when it is resent',
    does: 'accepts it, keeps its event, and leaves the lead in its later state',
    leaves: 'five events, and the lead at escrow_funded',
    hint: 'Respond with 200 to a webhook whose sequence is lower than one that you have: it was given up, and resent later. Keep its event, and do not let it replace a later state.',
    requests: [sent(1), sent(2), sent(4), sent(5), replayed(3)],
  },
  early: {
    sends: 'a webhook before all others of its lead',
    does: 'accepts it, although it knows neither the lead nor what came before',
    leaves: 'three events, and the lead at escrow_funded',
    hint: 'Respond with 200 to a webhook whose sequence leaves some out, also if it is the first of a lead: the ones before it were given up, and may be resent, and the answer to your create-lead may still be on its way.',
    requests: [sent(4), sent(5), replayed(1)],
  },
  unknown: {
    sends: 'a webhook of an unknown type, and one with unknown fields',
    does: 'accepts both, and ignores what it does not know',
    leaves: 'the events of sequence 1 and 3',
    hint: 'Respond with 200 to types that you do not know, and ignore them. Ignore fields that you do not know. New ones may be added.',
    requests: [sent(1), sent(2, { hasUnknownType: true }), sent(3, { hasUnknownFields: true })],
  },
  rotation: {
    sends:
      'webhooks before, during and after a rotation: two have two signatures, one of them by your secret',
    does: 'accepts each: one valid signature is enough',
    leaves: 'four events',
    hint: 'While a secret is rotated, webhook-signature has one signature for each secret, separated by spaces: accept the webhook if any of them is valid.',
    requests: [
      sent(1),
      sent(2, { signing: 'other_then_own' }),
      sent(3, { signing: 'own_then_other' }),
      sent(4),
    ],
  },
  slow: {
    sends: 'a webhook whose body arrives in pieces over two seconds',
    does: 'waits for the whole body, and then verifies it',
    leaves: 'three events',
    hint: 'Read the whole body before you verify it, and give a request at least ten seconds to arrive.',
    requests: [sent(1), sent(2, { sending: 'slow' }), sent(3)],
  },
  interrupted: {
    sends: 'a webhook that is cut off in the middle of its body, and then sent whole',
    does: 'handles nothing before the whole body has arrived, and accepts it then',
    leaves: 'three events',
    hint: 'Do not handle a request, or store its webhook-id, before its whole body has arrived and its signature is verified. Then respond with 200 when the webhook comes again.',
    requests: [sent(1), sent(2, { sending: 'interrupted' }), sent(2), sent(3)],
  },
  timeout: {
    sends: 'a webhook whose answer we do not wait for, and the same one again five seconds later',
    does: 'accepts it again, and handles it once',
    leaves: 'three events, and not four',
    hint: 'We close the connection when your answer takes longer than 15 seconds, and send the webhook again. Respond with 200 to it, whether you have handled it by then or not: release what you locked for the first request when its connection is closed, and handle the event once.',
    requests: [sent(1), sent(2, { sending: 'unanswered' }), sent(2, { afterMs: RETRY_MS }), sent(3)],
  },
} as const satisfies Record<string, Rehearsal>

const EXPECTED = 'a 2xx status for each'

export type RehearsalCheck = keyof typeof rehearsals

export const rehearsalChecks = Object.keys(rehearsals) as RehearsalCheck[]

export const requestsOf = (check: RehearsalCheck): readonly RehearsedRequest[] => rehearsals[check].requests

export const describeRehearsal = (check: RehearsalCheck): string => rehearsals[check].sends

/** What a good receiver does and has afterwards, for people. */
export const goodReceiver = (check: RehearsalCheck): Pick<Rehearsal, 'does' | 'leaves'> => rehearsals[check]

/** The event or webhook that a request tells of. */
export const nameOf = ({ sequence }: RehearsedRequest): WebhookName | undefined =>
  rehearsedJourney[sequence - 1]?.name

/** Whether the next request of its check is sent: all that a receiver could accept, it has accepted so far. */
export const isTaken = ({ sending }: RehearsedRequest, { ok }: Pick<JudgedOutcome, 'ok'>): boolean =>
  ok || sending === 'interrupted' || sending === 'unanswered'

/**
 * Judges the responses to a check: passed if every request whose answer we wait for got a complete 2xx in time, otherwise by
 * the first that did not, which is the last.
 *
 * @param outcomes one for each request that was sent, in order.
 * @param clock what is wrong with the receiver's clock, in words.
 */
export function judgeRehearsal(
  check: RehearsalCheck,
  outcomes: readonly JudgedOutcome[],
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
  const request: RehearsedRequest | undefined = requests[outcomes.length - 1]
  const name = request && nameOf(request)
  return {
    ...report,
    expected: EXPECTED,
    received: `${report.received} (${name}, request ${outcomes.length} of ${requests.length})`,
    hint: hintFor(last, report.hint, hint),
  }
}

/** Here, an error or no response is what the check is about. */
function hintFor({ status }: JudgedOutcome, judged: string | null, ofCheck: string): string | null {
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
