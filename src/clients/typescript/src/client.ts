import { type Calls, calls } from './api.ts'
import type * as Api from './api.ts'
import { ApiError, NoAnswerError } from './errors.ts'
import { type CallOptions, pause, Transport, type TransportOptions } from './transport.ts'
import { type WebhookOptions, Webhooks } from './webhooks.ts'

export interface ReferralsOptions extends TransportOptions {
  /** For `webhooks`: the endpoint’s secret, and while it is rotated, the previous one too. */
  webhookSecrets?: WebhookOptions['secrets'] | undefined
}

/** A call of the API: it takes and answers what the reference says, by the same names. */
type Method<Request, Response> = object extends Request
  ? (request?: Request, options?: CallOptions) => Promise<Response>
  : (request: Request, options?: CallOptions) => Promise<Response>

type Methods = { readonly [Name in keyof Calls]: Method<Calls[Name]['request'], Calls[Name]['response']> }

export interface FollowOptions {
  /** The last `cursor` that you stored. `now` skips the events so far; by default, all events come. */
  after?: string | undefined
  /** Ends the loop, quietly: an event that was handed over is the last one. */
  signal?: AbortSignal | undefined
}

const PAUSE_MS = 250

// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the constructor makes a method for each call
export interface Referrals extends Methods {}

/**
 * The Partner Referral Service for a lender’s systems. One instance for a process is enough. It has a method for each call
 * of the API. Each rejects with an `ApiError`, or with a `NoAnswerError` if no answer came until the deadline.
 *
 * @example
 * const referrals = new Referrals({
 *   apiKey: process.env.REFERRALS_KEY,
 *   baseUrl: 'https://referrals.example.com/v1',
 *   webhookSecrets: process.env.WEBHOOK_SECRET,
 * })
 * const { lead_id } = await referrals.createLead(
 *   { first_name: 'Ada', last_name: 'Miller', email: 'ada@example.com', phone: '+1 555-0100' },
 *   { idempotencyKey: 'loan-118' },
 * )
 */
export class Referrals {
  readonly webhooks: Webhooks
  readonly #deadlineMs: number

  constructor({ webhookSecrets = [], ...options }: ReferralsOptions) {
    const transport = new Transport(options)
    this.#deadlineMs = transport.deadlineMs
    this.webhooks = new Webhooks({ secrets: webhookSecrets })
    for (const name of Object.keys(calls) as (keyof Calls)[]) {
      const call = (request?: object, callOptions?: CallOptions) => transport.call(name, request, callOptions)
      Object.defineProperty(this, name, { value: call, enumerable: true })
    }
  }

  /** Your leads, newest first and without personal data, read page by page: `limit` is the length of a page. */
  leads(filter?: Api.ListLeadsRequest, options?: CallOptions): AsyncGenerator<Api.LeadSummary, void> {
    return eachOf(this.listLeads, filter, options)
  }

  /** Your webhooks with their attempts, newest first, read page by page. */
  deliveries(filter?: Api.GetDeliveriesRequest, options?: CallOptions): AsyncGenerator<Api.Delivery, void> {
    return eachOf(this.getDeliveries, filter, options)
  }

  /**
   * The events of all leads as they happen, each once and each lead’s in order, until `signal` ends the loop. It goes on
   * through restarts of the service and network failures, and throws what cannot pass by itself, such as a refused key.
   * Store `event.cursor` after you have handled an event, and begin there the next time.
   *
   * @throws {CursorLostError} if the service lost the place: continue after its `cursor`.
   */
  async *events({ after, signal }: FollowOptions = {}): AsyncGenerator<Api.FeedEvent, void> {
    let cursor = after ?? null
    try {
      for (;;) {
        const request = { after: cursor, wait: 25, limit: 100 }
        // without a deadline: after an outage, the feed goes on where it was
        const page = await this.listEvents(request, { signal, deadlineMs: Infinity })
        for (const event of page.data) {
          if (signal?.aborted) return
          yield event
        }
        cursor = page.next
      }
    } catch (error) {
      if (!signal?.aborted) throw error
    }
  }

  /**
   * Certifies the candidate of your endpoint, and waits until all checks have ended.
   *
   * @throws {NoAnswerError} if the certification has not ended at the deadline; it goes on.
   */
  async certify(request: Api.CertifyEndpointRequest = {}, options: CallOptions = {}): Promise<Api.Endpoint> {
    const { signal, deadlineMs = this.#deadlineMs } = options
    const ends = Date.now() + deadlineMs
    const left = () => ({ signal, deadlineMs: Math.max(1, ends - Date.now()) })
    await this.certifyEndpoint(request, left()).catch((error: unknown) => {
      // an attempt whose answer was lost has begun the certification, which has ended since
      if (!(error instanceof ApiError && error.code === 'NO_CANDIDATE' && error.maybeDone)) throw error
    })
    for (;;) {
      const { data } = await this.getEndpoint({}, left())
      if (data.certification?.state !== 'running') return data
      if (Date.now() + PAUSE_MS > ends)
        throw new NoAnswerError(
          `the certification has not ended within ${deadlineMs} ms: getEndpoint shows it`,
        )
      await pause(PAUSE_MS, signal)
    }
  }
}

async function* eachOf<Item, Cursor, Filter extends { after?: Cursor | null }>(
  read: (request: Filter, options?: CallOptions) => Promise<{ data: Item[]; next: Cursor | null }>,
  filter?: Filter,
  options?: CallOptions,
): AsyncGenerator<Item, void> {
  for (let after: Cursor | null | undefined = filter?.after; ;) {
    const { data, next } = await read({ ...filter, after } as Filter, options)
    yield* data
    if (next === null) return
    after = next
  }
}
