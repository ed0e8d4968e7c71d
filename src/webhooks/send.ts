import { lookup as systemLookup, promises } from 'node:dns'
import type { IncomingHttpHeaders } from 'node:http'
import type { LookupFunction } from 'node:net'
import { Agent, request } from 'undici'
import type { Answer, AttemptOutcome } from '../deliveries/attempt-outcome.ts'
import { REQUEST_LIMIT_MS } from '../deliveries/delivery-states.ts'
import { guardedConnector, resolverLookup, trackConnectedAddresses } from './address-guard.ts'
import { diagnose, diagnoseTimeout, type Diagnosis, diagnosis, outcomeOf } from './diagnosis.ts'
import { checkEndpointUrl, type EndpointPolicy } from './endpoint-url.ts'

const READ_BYTES = 64 * 1024
const KEEP_BYTES = 4 * 1024
const KEEP_HEADERS = 40
const KEEP_HEADER_LENGTH = 512
/** Names and values of all: a page of deliveries may show those of 2,000 attempts. */
const KEEP_HEADERS_LENGTH = 2 * 1024

/** Never stored: an endpoint may send its own credentials, or echo ours. */
const SECRET_HEADER = /cookie|auth|token|secret|signature|session|credential|password|api-?key/i

/**
 * The first 4 KiB of a body as text. At most 64 KiB are read, so an endless response costs no more than that. A
 * compressed body is not kept, since it could decompress to any size, and one that was cut says so.
 */
export async function readBody(body: AsyncIterable<Buffer>, encoding: string | undefined): Promise<string> {
  const kept: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    if (bytes < KEEP_BYTES) kept.push(chunk.subarray(0, KEEP_BYTES - bytes))
    bytes += chunk.length
    if (bytes >= READ_BYTES) break
  }
  if (encoding !== undefined && encoding !== 'identity' && bytes > 0) return `(${encoding}, not decompressed)`
  // `stream` drops a character that is cut at the end; PostgreSQL's text cannot hold U+0000
  const text = new TextDecoder().decode(Buffer.concat(kept), { stream: true }).replaceAll('\u0000', '\ufffd')
  return bytes > KEEP_BYTES ? `${text}… (cut)` : text
}

/** The response headers to store: limited in number and length, without credentials. */
export function keptHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const named = Object.entries(headers).filter(([name]) => !SECRET_HEADER.test(name))
  const kept: [string, string][] = []
  let length = 0
  for (const [name, value] of named.slice(0, KEEP_HEADERS)) {
    const pair: [string, string] = [clip(name), clip(String(value))]
    length += pair.join('').length
    if (length > KEEP_HEADERS_LENGTH) break
    kept.push(pair)
  }
  return Object.fromEntries(kept)
}

/** The first value of a header. */
export function headerValue(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  const first = Array.isArray(value) ? value[0] : value
  return first === undefined ? undefined : clip(first)
}

function clip(text: string): string {
  return text.slice(0, KEEP_HEADER_LENGTH)
}

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
