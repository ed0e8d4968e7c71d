import { lookup as systemLookup, promises } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { Agent, request } from 'undici'
import type { Answer, AttemptOutcome } from '../decisions/attempt-outcome.ts'
import { REQUEST_LIMIT_MS } from '../decisions/delivery.ts'
import { guardedConnector } from './address-guard.ts'
import { trackConnectedAddresses } from './connected-address.ts'
import { type Diagnosis, diagnose, diagnoseTimeout, diagnosis, outcomeOf } from './diagnosis.ts'
import { checkEndpointUrl, type EndpointPolicy } from './endpoint-url.ts'
import { resolverLookup } from './resolver-lookup.ts'
import { headerValue, keptHeaders, readBody } from './response.ts'

interface WebhookRequest {
  url: string
  headers: Record<string, string>
  body: string
}

interface SenderOptions extends EndpointPolicy {
  /** For one attempt, from the DNS lookup to the last byte of the response. */
  timeoutMs?: number
  /** How names are resolved: by default in DNS, and on a private network as the operating system does. */
  lookup?: LookupFunction
}

export type Sender = ReturnType<typeof createSender>

/**
 * Sends webhooks. A process has one sender: it keeps connections open for reuse, for a minute at most, after which a
 * changed DNS record counts. An open connection leads to an address that the SSRF guard allowed.
 */
export function createSender(options: SenderOptions) {
  const { timeoutMs = REQUEST_LIMIT_MS, allowPrivateNetwork } = options
  const { lookup = defaultLookup(allowPrivateNetwork) } = options
  const tracking = trackConnectedAddresses()
  const agent = new Agent({
    connect: guardedConnector({ allowPrivateNetwork, lookup, timeoutMs }),
    // Many, because partners may share an origin (a hosted integration service): one partner's slow path must not
    // block the others. The leases bound the concurrent attempts at one endpoint.
    connections: 100,
    clientTtl: 60_000,
    // Shorter than servers usually keep idle connections (5 s and more), so they do not close one while we use it.
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })

  /** Makes one attempt. It never rejects: every network error is an outcome. */
  async function send(webhook: WebhookRequest, signal?: AbortSignal): Promise<AttemptOutcome> {
    const started = performance.now()
    const deadline = AbortSignal.timeout(timeoutMs)
    const aborted = signal ? AbortSignal.any([signal, deadline]) : deadline
    const bytes = Buffer.from(webhook.body)
    const answer: Answer = { status: null, responseHeaders: null, responseBody: null, retryAfter: null }
    let failure: Diagnosis | null = checkEndpointUrl(webhook.url, options)
    if (failure === null) {
      try {
        await unlessAborted(aborted, exchange(agent, webhook, bytes, aborted, answer))
      } catch (error) {
        if (deadline.aborted) failure = diagnoseTimeout(tracking.addressOf(bytes) !== null)
        else failure = signal?.aborted ? diagnosis('canceled') : diagnose(error)
      }
    }
    return {
      ...outcomeOf(answer, failure),
      ...answer,
      address: tracking.addressOf(bytes) ?? failure?.address ?? null,
      durationMs: Math.round(performance.now() - started),
    }
  }

  /** Waits for the requests in flight and closes the connections. */
  async function close(): Promise<void> {
    await agent.close()
    tracking.stop()
  }

  return { send, close }
}

function defaultLookup(allowPrivateNetwork: boolean): LookupFunction {
  if (allowPrivateNetwork) return systemLookup
  return resolverLookup(new promises.Resolver({ timeout: 2_000, tries: 2 }))
}

/** Sends and reads. It fills in `answer` as it arrives, because the body may fail after the status. */
async function exchange(
  dispatcher: Agent,
  { url, headers }: WebhookRequest,
  bytes: Buffer,
  signal: AbortSignal,
  answer: Answer,
): Promise<void> {
  const response = await request(url, { dispatcher, method: 'POST', headers, body: bytes, signal })
  answer.status = response.statusCode
  answer.responseHeaders = keptHeaders(response.headers)
  answer.retryAfter = headerValue(response.headers, 'retry-after') ?? null
  const body = readBody(response.body, headerValue(response.headers, 'content-encoding'))
  // a 204 has no body: what follows it is no part of the response
  answer.responseBody = await (response.statusCode === 204 ? body.catch(() => '') : body)
}

/** undici ignores the signal while a request waits for its connection: this stops waiting for it. */
async function unlessAborted(signal: AbortSignal, work: Promise<void>): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
