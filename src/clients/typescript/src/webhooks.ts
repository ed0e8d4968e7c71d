import { shapes, type WebhookEvent } from './api.ts'
import { type Receiver, receiverOf, type ReceiverOptions } from './receiver.ts'
import {
  expressOf,
  type ExpressHandler,
  type FastifyPlugin,
  fastifyOf,
  fetchOf,
  nodeOf,
  type NodeHandler,
} from './adapters.ts'
import { headerOf, type WebhookHeaders } from './headers.ts'
import { isSigned, parsedBody, requireSecret, signatureOf, WebhookVerificationError } from './signatures.ts'
import { decode, encode } from './wire.ts'

export interface WebhookOptions {
  /** `whsec_…`; several while a secret is rotated. */
  secrets: string | readonly string[]
  /** How old or new a request may be, in seconds: the standard says five minutes. */
  toleranceSeconds?: number
}

export interface GenuineRequest {
  headers: Record<'content-type' | 'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>
  body: string
}

const TOLERANCE_SECONDS = 300

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
   * if (event.type === 'score_update') console.log(event.data.eventPayload.experianGain)
   *
   * @param body as it came, before anybody parsed it.
   * @throws {WebhookVerificationError} if it is forged, changed or too old.
   */
  async unwrap(body: string | Uint8Array, headers: WebhookHeaders): Promise<WebhookEvent> {
    if (this.#secrets.length === 0)
      throw new WebhookVerificationError('no_secret', 'No secret is set: give webhookSecrets')
    if (typeof body !== 'string' && !ArrayBuffer.isView(body)) throw parsedBody(ANY_BODY)
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
    const [id, timestamp, signature] = NAMES.map((name) => headerOf(headers, name))
    if (!id || !timestamp || !signature)
      throw new WebhookVerificationError('headers', `The request lacks one of ${NAMES.join(', ')}`)
    this.#requireNow(timestamp)
    if (!(await isSigned({ id, timestamp, body: bytes }, signature, this.#secrets)))
      throw new WebhookVerificationError('signature', 'No signature fits: another secret, or a changed body')
    return decode(shapes, '#WebhookEvent', parse(bytes)) as WebhookEvent
  }

  /**
   * A genuine request, for your own tests.
   *
   * @example
   * const [event] = journey()
   * const { headers, body } = await referrals.webhooks.sign(event, secret)
   */
  async sign(
    event: WebhookEvent,
    secret: string,
    options: { id?: string; at?: Date } = {},
  ): Promise<GenuineRequest> {
    requireSecret(secret)
    const { at = new Date() } = options
    const id =
      options.id ?? ('eventId' in event.data ? String(event.data.eventId) : `msg_${crypto.randomUUID()}`)
    const timestamp = String(Math.floor(at.getTime() / 1000))
    const body = JSON.stringify(encode(shapes, '#WebhookEvent', event))
    const signature = await signatureOf({ id, timestamp, body: new TextEncoder().encode(body) }, secret)
    return {
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signature,
      },
      body,
    }
  }

  /**
   * Handles requests without a framework: `receive` answers the status.
   *
   * @example
   * const receiver = referrals.webhooks.receiver({ on: { mortgage_ready: ({ data }) => call(data.leadId) } })
   * const status = await receiver.receive(rawBody, headers)
   */
  receiver<Context = void>(options: ReceiverOptions<Context>): Receiver {
    return receiverOf((body, headers) => this.unwrap(body, headers), options)
  }

  /**
   * For Express. Put the route before any `express.json()`.
   *
   * @example
   * app.post('/webhooks', referrals.webhooks.express({ on: { mortgage_ready: ({ data }) => call(data.leadId) } }))
   */
  express<Context = void>(options: ReceiverOptions<Context>): ExpressHandler {
    return expressOf(this.receiver(options))
  }

  /**
   * For Node’s `http`: it handles requests of any path.
   *
   * @example
   * createServer(referrals.webhooks.node({ on: { mortgage_ready: ({ data }) => call(data.leadId) } })).listen(4000)
   */
  node<Context = void>(options: ReceiverOptions<Context>): NodeHandler {
    return nodeOf(this.receiver(options))
  }

  /**
   * For Fastify: a plugin with the route. The application’s other routes keep their parser.
   *
   * @example
   * await fastify.register(
   *   referrals.webhooks.fastify('/webhooks', { on: { mortgage_ready: ({ data }) => call(data.leadId) } }),
   * )
   */
  fastify<Context = void>(path: string, options: ReceiverOptions<Context>): FastifyPlugin {
    return fastifyOf(path, this.receiver(options))
  }

  /**
   * `Request → Response`, as Next, Hono, Workers, Bun and Deno have it.
   *
   * @example
   * export const POST = referrals.webhooks.fetch({ on: { mortgage_ready: ({ data }) => call(data.leadId) } })
   */
  fetch<Context = void>(options: ReceiverOptions<Context>): (request: Request) => Promise<Response> {
    return fetchOf(this.receiver(options))
  }

  #requireNow(timestamp: string): void {
    const age = Date.now() / 1000 - Number(timestamp)
    if (!/^\d{1,12}$/.test(timestamp) || age > this.#toleranceSeconds)
      throw new WebhookVerificationError('too_old', `The request is older than ${this.#toleranceSeconds} s`)
    if (age < -this.#toleranceSeconds)
      throw new WebhookVerificationError(
        'too_new',
        'The request is from the future: check this computer’s clock',
      )
  }
}

const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const
const ANY_BODY =
  'Give unwrap the body as it came, as bytes or text: await request.text(), or with Express a route with express.text({ type: "application/json" }) that comes before express.json()'

function parse(bytes: Uint8Array): unknown {
  try {
    const event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as { type?: unknown }
    if (typeof event.type === 'string') return event
  } catch {
    // neither UTF-8 nor JSON nor an object
  }
  throw new WebhookVerificationError('body', 'The body is no event in JSON')
}
