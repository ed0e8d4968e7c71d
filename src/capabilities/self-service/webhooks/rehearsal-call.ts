import type { WebhookFacts } from '../../../core/deliveries/decisions/webhook-facts.ts'
import { webhookBody } from '../../../core/deliveries/webhooks/body.ts'
import type { Environment } from '../../../core/values/environment.ts'
import {
  type RehearsedRequest,
  rehearsedJourney,
  type Sending,
  type Signing,
  UNKNOWN_TYPE,
} from '../decisions/rehearsal.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const LAST_DAY = rehearsedJourney.at(-1)?.day ?? 0

interface MadeUpLead {
  leadId: number
  environment: Environment
  /** When the rehearsal began: by then, the lead's journey is over. */
  requestedAt: Date
  /** The event of a sequence, the same each time. */
  eventId: (sequence: number) => string
}

/** The id and the body of a request about a made-up lead. The same webhook has the same bytes each time. */
export function rehearsalCall(
  { sequence, hasUnknownType, hasUnknownFields }: RehearsedRequest,
  { leadId, environment, requestedAt, eventId }: MadeUpLead,
): { id: string; body: string } {
  const reached = rehearsedJourney[sequence - 1]
  if (reached === undefined) throw new Error(`no webhook of the journey has the sequence ${sequence}`)
  const id = eventId(sequence)
  const facts: WebhookFacts = {
    eventId: id,
    // what is added later is not in today's types
    eventName: hasUnknownType ? (UNKNOWN_TYPE as typeof reached.name) : reached.name,
    eventPayload: reached.payload,
    createdAt: new Date(requestedAt.getTime() - (LAST_DAY - reached.day) * DAY_MS),
    leadId,
    partnerLeadId: `REHEARSAL-${leadId}`,
    sequence,
  }
  const body = webhookBody({ ...facts, environment })
  return { id, body: hasUnknownFields ? withUnknownFields(body) : body }
}

function withUnknownFields(body: string): string {
  const { data, ...rest } = JSON.parse(body) as { data: object }
  return JSON.stringify({ ...rest, data: { ...data, added_later: { value: 1 } }, added_later: true })
}

/** In the order of its signatures. `other` is a secret that the receiver does not have. */
export function signedBy(signing: Signing, own: readonly string[], other: string): string[] {
  if (signing === 'own') return [...own]
  return signing === 'other_then_own' ? [other, ...own] : [...own, other]
}

/** A slow body comes in so many pieces. */
const PIECES = 5
/** Between two pieces, and before a body is cut off. */
const PIECE_MS = 500
/** As long as the last bytes take to leave and to be read: many a receiver drops what it has not read when we close. */
const LEAVES_MS = 20

/**
 * The parts of a body, each with the pause after it; whether the connection is then closed. Together they are the whole body,
 * unless it is to be interrupted.
 */
export function partsOf(
  body: string,
  sending: Sending,
): { parts: { bytes: Buffer; restMs: number }[]; closes: boolean } {
  const bytes = Buffer.from(body)
  if (sending === 'interrupted')
    return { parts: [{ bytes: bytes.subarray(0, bytes.length / 2), restMs: PIECE_MS }], closes: true }
  if (sending === 'unanswered') return { parts: [{ bytes, restMs: LEAVES_MS }], closes: true }
  if (sending === 'whole') return { parts: [{ bytes, restMs: 0 }], closes: false }
  const size = Math.ceil(bytes.length / PIECES)
  const parts = Array.from({ length: PIECES }, (_, index) => ({
    bytes: bytes.subarray(index * size, (index + 1) * size),
    restMs: index === PIECES - 1 ? 0 : PIECE_MS,
  }))
  return { parts, closes: false }
}
