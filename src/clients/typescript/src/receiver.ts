import type { MilestoneWebhook, OtherName, WebhookEvent } from './api.ts'
import { inMemory, type Seen } from './seen.ts'
import { WebhookVerificationError } from './signatures.ts'

/** The headers of a request: of `fetch`, of Node, or any object of that form. */
export type WebhookHeaders =
  { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>

export function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if ('get' in headers && typeof headers.get === 'function') return headers.get(name) ?? undefined
  const value = (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name]
  return typeof value === 'string' ? value : undefined
}

/** One shape has several types. */
type OfType<Event, Name> = Event extends { type: infer Types }
  ? Name extends Types
    ? Event & { type: Name }
    : never
  : never

/** An event of a lead, also of a type that was added later. */
export type LeadEvent =
  | Extract<WebhookEvent, { data: { lead_id: number } }>
  | (Omit<MilestoneWebhook, 'type'> & { type: OtherName })

/** By type. An event without a handler is accepted and ignored. */
export type Handlers<Context> = {
  [Name in Exclude<WebhookEvent['type'], OtherName>]?: (
    event: OfType<WebhookEvent, Name>,
    context: Context,
  ) => Promise<void> | void
}

export interface ReceiverOptions<Context> {
  on?: Handlers<Context>
  /** For each event of a lead, before the handler of its type; not for tests of the endpoint. */
  onEvent?: (event: LeadEvent, context: Context) => Promise<void> | void
  /** Where handled webhooks are remembered; by default in memory, for tests only: it ends with the process. */
  seen?: Seen<Context>
  /** A handler failed, or a request was refused. By default, errors that you have to fix are written to the console. */
  onError?: (error: unknown) => void
}

/**
 * @param body as it came, or what is wrong with it.
 * @returns the status to answer: 200, 400 for what is no genuine webhook, 500 if the handler failed.
 */
export type Receive = (body: RawBody | WebhookVerificationError, headers: WebhookHeaders) => Promise<number>

export type RawBody = string | Uint8Array

/**
 * Each webhook is handled once: a repeat is answered 200 and not handled, and one whose handler failed is handled when it
 * comes again. The service sends the webhooks of a lead in order, one at a time; one that it repeats while its handler
 * still runs waits for that.
 */
export function receiverOf<Context>(
  unwrap: (body: RawBody, headers: WebhookHeaders) => Promise<WebhookEvent>,
  { on = {}, onEvent, onError = report, seen: given }: ReceiverOptions<Context>,
): Receive {
  // the default is for handlers that want no context
  const seen = given ?? (inMemory() as unknown as Seen<Context>)
  return async (body, headers) => {
    try {
      if (body instanceof WebhookVerificationError) throw body
      const event = (await unwrap(body, headers)) as LeadEvent
      const isOfLead = (event.data as LeadEvent['data'] | null)?.lead_id !== undefined
      const handler = Object.hasOwn(on, event.type) ? on[event.type as keyof typeof on] : undefined
      await seen.once(headerOf(headers, 'webhook-id') ?? '', async (context) => {
        if (isOfLead) await onEvent?.(event, context)
        await (handler as typeof onEvent)?.(event, context)
      })
      return 200
    } catch (error) {
      onError(error)
      return isForeign(error) ? 400 : 500
    }
  }
}

/** Whether the request is at fault, and not this receiver. */
function isForeign(error: unknown): boolean {
  return error instanceof WebhookVerificationError && !['parsed_body', 'no_secret'].includes(error.reason)
}

function report(error: unknown): void {
  // oxlint-disable-next-line no-console -- a developer who has set nothing up looks there
  if (!isForeign(error)) console.error(error)
}
