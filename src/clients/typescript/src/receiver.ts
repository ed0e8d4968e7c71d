import { type MilestoneWebhook, shapes, type WebhookEvent } from './api.ts'
import type { OtherName } from './names.ts'
import { inMemory, type Seen } from './seen.ts'
import { WebhookVerificationError } from './signatures.ts'
import { headerOf, type WebhookHeaders } from './headers.ts'
import { decode } from './wire.ts'

type Type = Exclude<WebhookEvent['type'], OtherName>
type EventOf<Name extends Type> = OfType<WebhookEvent, Name>
/** One shape is of several types. */
type OfType<Event, Name> = Event extends { type: infer Types }
  ? Name extends Types
    ? Event & { type: Name }
    : never
  : never

/** Also of a type that was added later. */
export type LeadEvent =
  Extract<WebhookEvent, { data: { leadId: number } }> | (Omit<MilestoneWebhook, 'type'> & { type: OtherName })

/** By type. A type without a handler is accepted and left alone. */
export type Handlers<Context> = {
  [Name in Type]?: (event: EventOf<Name>, context: Context) => Promise<void> | void
}

export interface ReceiverOptions<Context> {
  on?: Handlers<Context>
  /** For each event of a lead, before the handler of its type: one that writes a row gets no test of the endpoint. */
  onEvent?: (event: LeadEvent, context: Context) => Promise<void> | void
  /** Where handled webhooks are remembered; in memory by default, which is for one process that never restarts: for tests. */
  seen?: Seen<Context>
  /**
   * A handler failed, so the webhook comes again, or a request was refused. By default, what you have to mend is written
   * to the console.
   */
  onError?: (error: unknown) => void
}

export interface Receiver {
  /**
   * @param body as it came, or what is wrong with it.
   * @returns the status to answer: 200, 400 for what is no genuine webhook, 500 if the handler failed.
   */
  receive: (body: RawBody | WebhookVerificationError, headers: WebhookHeaders) => Promise<200 | 400 | 500>
}

export type RawBody = string | Uint8Array

type Unwrap = (body: RawBody, headers: WebhookHeaders) => Promise<WebhookEvent>

/**
 * Each webhook is handled once: a repeat is answered 200 and not handled, and one whose handler failed is handled when it
 * comes again. The service sends the webhooks of a lead in order, one at a time; one that it repeats while its handler
 * still runs waits for that.
 */
export function receiverOf<Context>(unwrap: Unwrap, options: ReceiverOptions<Context>): Receiver {
  const { on = {}, onEvent, onError = report } = options
  // the default is for handlers that want no context
  const seen = options.seen ?? (inMemory() as unknown as Seen<Context>)
  const inTurn = turns()
  const handle = async (event: LeadEvent, context: Context) => {
    if (leadOf(event) !== undefined) await onEvent?.(event, context)
    const handler = Object.hasOwn(on, event.type) ? on[event.type as Type] : undefined
    await (handler as ReceiverOptions<Context>['onEvent'])?.(event, context)
  }
  return {
    receive: async (body, headers) => {
      try {
        if (body instanceof WebhookVerificationError) throw body
        const received = await unwrap(body, headers)
        // also of a type that was added later; what has these names already stays as it is
        const event = {
          ...received,
          data: decode(shapes, '#MilestoneWebhookData', received.data),
        } as LeadEvent
        const id = headerOf(headers, 'webhook-id') ?? ''
        await inTurn(String(leadOf(event) ?? id), () => seen.once(id, (context) => handle(event, context)))
        return 200
      } catch (error) {
        onError(error)
        return isForeign(error) ? 400 : 500
      }
    },
  }
}

const leadOf = ({ data }: LeadEvent) => (data as LeadEvent['data'] | null)?.leadId

/** The request’s fault, and not this receiver’s. */
function isForeign(error: unknown): boolean {
  return error instanceof WebhookVerificationError && !['parsed_body', 'no_secret'].includes(error.reason)
}

function report(error: unknown): void {
  // oxlint-disable-next-line no-console -- a developer who has set nothing up looks there
  if (!isForeign(error)) console.error(error)
}

/** Of each lead one at a time, in the order of their coming. */
function turns(): (lead: string, work: () => Promise<void>) => Promise<void> {
  const last = new Map<string, Promise<void>>()
  return async (lead, work) => {
    const before = last.get(lead) ?? Promise.resolve()
    const turn = before.then(work, work)
    last.set(lead, turn)
    try {
      await turn
    } finally {
      if (last.get(lead) === turn) last.delete(lead)
    }
  }
}
