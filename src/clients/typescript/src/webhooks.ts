import { fetchOf, isRaw, nodeOf, type NodeHandler } from './adapters.ts'
import type { WebhookEvent } from './api.ts'
import { headerOf, type Receive, receiverOf, type ReceiverOptions, type WebhookHeaders } from './receiver.ts'
import { isSigned, parsedBody, requireSecret, WebhookVerificationError } from './signatures.ts'

export interface WebhookOptions {
  /** `whsec_…`; several while a secret is rotated. */
  secrets: string | readonly string[]
  /** How old or new a request may be, in seconds: the standard says five minutes. */
  toleranceSeconds?: number
}

const TOLERANCE_SECONDS = 300
const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const

/** Receives webhooks. It needs no API key: a receiver may use it alone. */
export class Webhooks {
  readonly #secrets: readonly string[]
  readonly #toleranceSeconds: number

  constructor({ secrets, toleranceSeconds = TOLERANCE_SECONDS }: WebhookOptions) {
    this.#secrets = [secrets].flat()
    this.#secrets.forEach(requireSecret)
    this.#toleranceSeconds = toleranceSeconds
  }

  /**
   * The event of a genuine request. `type` tells the kinds apart; one that was added later is typed as `OtherWebhook`.
   *
   * @example
   * const event = await referrals.webhooks.unwrap(await request.text(), request.headers)
   * if (event.type === 'score_update') console.log(event.data.event_payload.experian_gain)
   *
   * @param body as it came, before anybody parsed it.
   * @throws {WebhookVerificationError} if it is forged, changed or too old.
   */
  async unwrap(body: string | Uint8Array, headers: WebhookHeaders): Promise<WebhookEvent> {
    if (this.#secrets.length === 0)
      throw new WebhookVerificationError('no_secret', 'No secret is set: pass webhookSecrets')
    if (!isRaw(body)) throw parsedBody()
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
    const [id, timestamp, signature] = NAMES.map((name) => headerOf(headers, name))
    if (!id || !timestamp || !signature)
      throw new WebhookVerificationError('headers', `The request lacks one of ${NAMES.join(', ')}`)
    requireNow(timestamp, this.#toleranceSeconds)
    if (!(await isSigned({ id, timestamp, body: bytes }, signature, this.#secrets)))
      throw new WebhookVerificationError(
        'signature',
        'No signature matches: another secret, or a changed body',
      )
    return parse(bytes)
  }

  /** For any framework: it takes the raw body with its headers, and answers the status. */
  receiver<Context = void>(options: ReceiverOptions<Context>): Receive {
    return receiverOf((body, headers) => this.unwrap(body, headers), options)
  }

  /** For Express and Node’s `http`. Put the route before any `express.json()`. */
  node<Context = void>(options: ReceiverOptions<Context>): NodeHandler {
    return nodeOf(this.receiver(options))
  }

  /** `Request → Response`, as Next, Hono, Workers, Bun and Deno have it. */
  fetch<Context = void>(options: ReceiverOptions<Context>): (request: Request) => Promise<Response> {
    return fetchOf(this.receiver(options))
  }
}

function requireNow(timestamp: string, tolerance: number): void {
  const age = Date.now() / 1000 - Number(timestamp)
  if (!/^\d{1,12}$/.test(timestamp) || age > tolerance)
    throw new WebhookVerificationError('too_old', `The request is older than ${tolerance} s`)
  if (age < -tolerance)
    throw new WebhookVerificationError(
      'too_new',
      'The request is from the future: check this computer’s clock',
    )
}

function parse(bytes: Uint8Array): WebhookEvent {
  try {
    const event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as WebhookEvent | null
    if (typeof event?.type === 'string') return event
  } catch {
    // neither UTF-8 nor JSON
  }
  throw new WebhookVerificationError('body', 'The body is not an event in JSON')
}
