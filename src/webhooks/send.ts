import { lookup as systemLookup, promises } from 'node:dns'
import type { IncomingHttpHeaders } from 'node:http'
import type { LookupFunction } from 'node:net'
import { Agent, request } from 'undici'
import { REQUEST_LIMIT_MS } from '../deliveries/delivery-states.ts'
import { type Environment, newUuid } from '../values.ts'
import { guardedConnector, isSent, resolverLookup } from './address-guard.ts'
import { PING_TYPE, serviceCallBody } from './body.ts'
import { clockAdvice, diagnose, diagnoseStatus, diagnoseTimeout, type Diagnosis } from './diagnosis.ts'
import { checkEndpointUrl, type EndpointPolicy } from './endpoint-url.ts'
import { signedHeaders } from './signature.ts'

interface WebhookRequest {
  url: string
  headers: Record<string, string>
  body: string
}

/** The endpoint's response, as far as it arrived. */
interface Answer {
  /** The HTTP status; `null` when none arrived. */
  status: number | null
  responseHeaders: Record<string, string> | null
  /** The beginning of the body, as text. */
  responseBody: string | null
  /** The `Retry-After` header, unparsed. */
  retryAfter: string | null
}

/** How one HTTP request ended. */
export interface AttemptOutcome extends Answer {
  /** Whether the endpoint accepted the event: a complete 2xx response in time. */
  ok: boolean
  durationMs: number
  errorCode: string | null
  /** What the partner can do about the failure. */
  hint: string | null
}

export type SendWebhook = (webhook: WebhookRequest) => Promise<AttemptOutcome>

interface SenderOptions extends EndpointPolicy {
  /** For one attempt, from the DNS lookup to the last byte of the response. */
  timeoutMs?: number
  /** How names are resolved: by default in DNS, and on a private network as the operating system does. */
  lookup?: LookupFunction
}

/**
 * Sends webhooks. A process has one sender: it keeps connections open for reuse, for a minute at most, after which a
 * changed DNS record counts. An open connection leads to an address that the SSRF guard allowed. No request waits for the
 * connection of another: partners may share an origin, such as a hosted integration service.
 */
export function createSender(options: SenderOptions) {
  const { timeoutMs = REQUEST_LIMIT_MS, allowPrivateNetwork, lookup = defaultLookup(options) } = options
  const agent = new Agent({
    connect: guardedConnector({ allowPrivateNetwork, lookup, timeoutMs }),
    clientTtl: 60_000,
    // Shorter than servers usually keep idle connections (5 s and more), so they do not close one while we use it.
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })

  /** Makes one attempt. It never rejects: every network error is an outcome. */
  const send: SendWebhook = async (webhook) => {
    const started = performance.now()
    const deadline = AbortSignal.timeout(timeoutMs)
    const bytes = Buffer.from(webhook.body)
    const answer: Answer = { status: null, responseHeaders: null, responseBody: null, retryAfter: null }
    let failure = checkEndpointUrl(webhook.url, options)
    if (failure === null) {
      try {
        await exchange(agent, webhook, bytes, deadline, answer)
      } catch (error) {
        failure = deadline.aborted ? diagnoseTimeout(isSent(bytes)) : diagnose(error)
      }
    }
    const reason = reasonOf(answer, failure)
    return {
      ...answer,
      ok: reason === null,
      errorCode: reason?.errorCode ?? null,
      hint: reason?.hint ?? null,
      durationMs: Math.round(performance.now() - started),
    }
  }

  return {
    send,
    /** Waits for the requests in flight and closes the connections. */
    close: async () => agent.close(),
  }
}

const defaultLookup = ({ allowPrivateNetwork }: EndpointPolicy): LookupFunction =>
  allowPrivateNetwork ? systemLookup : resolverLookup(new promises.Resolver({ timeout: 2_000, tries: 2 }))

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

/** A status other than 2xx says more than how its body ended; a 2xx counts only when it is complete. */
function reasonOf({ status, responseHeaders }: Answer, failure: Diagnosis | null): Diagnosis | null {
  if (status === null || (status >= 200 && status <= 299)) return failure
  return diagnoseStatus(status, clockAdvice(responseHeaders?.date, Date.now()))
}

const READ_BYTES = 64 * 1024
const KEEP_BYTES = 4 * 1024

/**
 * The first 4 KiB of a body as text. At most 64 KiB are read, so an endless response costs no more than that. A
 * compressed body is not kept, since it could decompress to any size, and one that was cut says so.
 */
async function readBody(body: AsyncIterable<Buffer>, encoding: string | undefined): Promise<string> {
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

/** Never stored: an endpoint may send its own credentials, or echo ours. */
const SECRET_HEADER = /cookie|auth|token|secret|signature|session|credential|password|api-?key/i
const KEEP_HEADER_LENGTH = 512
/** Names and values together: a page of deliveries may show the headers of 2,000 attempts. */
const KEEP_HEADERS_LENGTH = 2 * 1024

/** The response headers to store: limited in length, without credentials. */
function keptHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept: Record<string, string> = {}
  let length = 0
  for (const [name, value] of Object.entries(headers)) {
    if (SECRET_HEADER.test(name)) continue
    const pair = [clip(name), clip(String(value))] as const
    length += pair.join('').length
    if (length > KEEP_HEADERS_LENGTH) break
    kept[pair[0]] = pair[1]
  }
  return kept
}

/** The first value of a header. */
const headerValue = (headers: IncomingHttpHeaders, name: string) => [headers[name]].flat()[0]

const clip = (text: string) => text.slice(0, KEEP_HEADER_LENGTH)

/** The outcome of a test request, which is no event. */
export interface PingOutcome {
  webhook_id: string
  ok: boolean
  status: number | null
  duration_ms: number
  error_code: string | null
  /** What to do about a failure. */
  hint: string | null
}

/** Sends one signed request of type `endpoint.ping`. */
export async function sendPing(
  {
    url,
    partnerId,
    environment,
    secrets,
  }: { url: string; partnerId: number; environment: Environment; secrets: string[] },
  send: SendWebhook,
): Promise<PingOutcome> {
  const id = `ping_${newUuid()}`
  const at = new Date()
  const body = serviceCallBody(PING_TYPE, at, { partner_id: partnerId, environment })
  const headers = signedHeaders({ id, body, at, secrets })
  const { ok, status, durationMs, errorCode, hint } = await send({ url, body, headers })
  return { webhook_id: id, ok, status, duration_ms: durationMs, error_code: errorCode, hint }
}
