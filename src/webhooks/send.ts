import { lookup as systemLookup, promises } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { Agent, request } from 'undici'
import { REQUEST_LIMIT_MS } from '../domain/delivery.ts'
import { guardedConnector } from './address-guard.ts'
import { trackConnectedAddresses } from './connected-address.ts'
import { checkEndpointUrl, type EndpointPolicy } from './endpoint-url.ts'
import { type Diagnosis, diagnose } from './network-error.ts'
import type { Outcome } from './outcome.ts'
import { resolverLookup } from './resolver-lookup.ts'
import { headerValue, keptHeaders, readBody } from './response.ts'
import { statusHint } from './status-hint.ts'

export interface WebhookRequest {
  url: string
  headers: Record<string, string>
  body: string
}

export interface SenderOptions extends EndpointPolicy {
  /** In milliseconds; `total` bounds an attempt from the lookup of the name to the answer's last byte. */
  timeouts?: { connect?: number; headers?: number; body?: number; total?: number }
  /** How names are looked up; by default in DNS, and on a private network with the hosts file too. */
  lookup?: LookupFunction
}

export interface Sender {
  /** Makes one attempt. It never rejects: whatever the network does is an outcome. */
  send: (webhook: WebhookRequest, signal?: AbortSignal) => Promise<Outcome>
  /** Lets requests in flight end and closes the connections. */
  close: () => Promise<void>
}

type Answer = Pick<Outcome, 'status' | 'responseHeaders' | 'responseBody' | 'retryAfter'>

const NO_ANSWER: Answer = { status: null, responseHeaders: null, responseBody: null, retryAfter: null }

/**
 * What sends webhooks: one for each process, since it keeps connections open for reuse, none of them
 * for longer than a minute, so that a changed DNS record soon counts. An open connection leads to an
 * address that passed the guard when it was made.
 */
export function createSender(options: SenderOptions): Sender {
  const limit = REQUEST_LIMIT_MS
  const { connect = 5_000, headers = limit, body = limit, total = limit } = options.timeouts ?? {}
  const { allowPrivateNetwork, lookup = defaultLookup(allowPrivateNetwork) } = options
  const tracking = trackConnectedAddresses()
  const agent = new Agent({
    connect: guardedConnector({ allowPrivateNetwork, lookup, timeoutMs: connect }),
    // Wide, because partners may share an origin (a hosted integration service): one partner's path that
    // hangs must not make the others wait. What bounds the attempts at one endpoint is its leases.
    connections: 100,
    clientTtl: 60_000,
    // Shorter than servers commonly keep idle connections (5 s and more), or they close them under us.
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    headersTimeout: headers,
    bodyTimeout: body,
  })

  async function send(webhook: WebhookRequest, signal?: AbortSignal): Promise<Outcome> {
    const started = performance.now()
    const deadline = AbortSignal.timeout(total)
    const aborted = signal ? AbortSignal.any([signal, deadline]) : deadline
    const bytes = Buffer.from(webhook.body)
    tracking.expect(bytes)
    let answer = NO_ANSWER
    let failure: Diagnosis | null = null
    const fault = checkEndpointUrl(webhook.url, options)
    if (fault) failure = { ...fault, address: null }
    else {
      try {
        await unlessAborted(
          aborted,
          exchange(agent, webhook, bytes, aborted, (part) => (answer = part)),
        )
      } catch (error) {
        failure = diagnoseAbort(deadline, signal) ?? diagnose(error)
      }
    }
    return {
      ...judge(answer, failure),
      ...answer,
      address: tracking.addressOf(bytes) ?? failure?.address ?? null,
      durationMs: Math.round(performance.now() - started),
    }
  }

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

/** Sends and reads; tells `onAnswer` what has come so far, since a body may fail after the status. */
async function exchange(
  dispatcher: Agent,
  { url, headers }: WebhookRequest,
  bytes: Buffer,
  signal: AbortSignal,
  onAnswer: (answer: Answer) => void,
): Promise<void> {
  const {
    statusCode,
    headers: received,
    body,
  } = await request(url, {
    dispatcher,
    method: 'POST',
    headers,
    body: bytes,
    signal,
  })
  const answer: Answer = {
    status: statusCode,
    responseHeaders: keptHeaders(received),
    responseBody: null,
    retryAfter: headerValue(received, 'retry-after') ?? null,
  }
  onAnswer(answer)
  onAnswer({ ...answer, responseBody: await readBody(body, headerValue(received, 'content-encoding')) })
}

/** A request that still waits for its connection does not hear the signal, so the wait is left here. */
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

function diagnoseAbort(deadline: AbortSignal, signal?: AbortSignal): Diagnosis | null {
  if (deadline.aborted) return diagnose(Object.assign(new Error('deadline'), { code: 'ETIMEDOUT' }))
  if (!signal?.aborted) return null
  return {
    errorCode: 'canceled',
    hint: 'the attempt was stopped on our side; it is made again',
    address: null,
  }
}

/** A status other than 2xx says more than the end of its body; a 2xx counts only when complete. */
function judge({ status }: Answer, failure: Diagnosis | null): Pick<Outcome, 'ok' | 'errorCode' | 'hint'> {
  if (status === null || (status >= 200 && status < 300)) {
    if (failure === null) return { ok: true, errorCode: null, hint: null }
    return { ok: false, errorCode: failure.errorCode, hint: failure.hint }
  }
  const errorCode = status >= 300 && status < 400 ? 'redirect' : 'http_error'
  return { ok: false, errorCode, hint: statusHint(status) }
}
