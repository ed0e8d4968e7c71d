import type { WebhookFacts } from '../../../core/deliveries/decisions/webhook-facts.ts'
import { webhookBody } from '../../../core/deliveries/webhooks/body.ts'
import type { Environment } from '../../../core/values/environment.ts'
import { type RehearsedRequest, rehearsedJourney } from '../decisions/rehearsal.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** One that no receiver can know. */
const UNKNOWN_TYPE = 'rehearsal.unknown_type'

interface MadeUpLead {
  leadId: number
  environment: Environment
  /** When its journey began. */
  start: Date
  /** The event of a sequence, the same each time. */
  eventId: (sequence: number) => string
}

/** The id and the body of a request about a made-up lead. The same webhook has the same bytes each time. */
export function rehearsalCall(
  { sequence, hasUnknownType, hasUnknownFields }: RehearsedRequest,
  { leadId, environment, start, eventId }: MadeUpLead,
): { id: string; body: string } {
  const reached = rehearsedJourney[sequence - 1]
  if (reached === undefined) throw new Error(`no webhook of the journey has the sequence ${sequence}`)
  const id = eventId(sequence)
  const facts: WebhookFacts = {
    eventId: id,
    // what is added later is not in today's types
    eventName: hasUnknownType ? (UNKNOWN_TYPE as typeof reached.name) : reached.name,
    eventPayload: reached.payload,
    createdAt: new Date(start.getTime() + reached.day * DAY_MS),
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
