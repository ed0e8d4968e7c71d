import { type Calls, calls } from './api.ts'
import { ApiError, CursorLostError, errorClasses, NoAnswerError, type WrongField } from './errors.ts'
import { isWorthRepeating, leavesOpen, readRetryAfter, waitOf } from './retries.ts'

export interface TransportOptions {
  /** `prs_test_…` or `prs_live_…`. Undefined, as a variable that is not set, is refused. */
  apiKey: string | undefined
  /** For example `https://api.example.com/v1`. */
  baseUrl: string | undefined
  /** For one attempt, in milliseconds; by default 20 s, as test-endpoint may take 15 s. The `wait` of a call comes on top. */
  timeoutMs?: number
  /** For a call with all its attempts, in milliseconds; by default 60 s. The `wait` of a call comes on top. */
  deadlineMs?: number
  /** Instead of the global one. */
  fetch?: typeof fetch
}

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** For this call, in milliseconds. */
  deadlineMs?: number
  /**
   * Makes a repeat safe, also one by another process after a crash: the same key within 24 hours gets the first answer
   * again. Without one, the client makes one for all attempts of the call. Calls that take none ignore it.
   */
  idempotencyKey?: string
}

type Name = keyof Calls

const TIMEOUT_MS = 20_000
const DEADLINE_MS = 60_000

/** Calls that are not idempotent, and take no Idempotency-Key. */
const ONCE: readonly Name[] = ['advanceClock', 'runScenario', 'testEndpoint']

/** Makes the API’s calls: what is sent and answered is as api.ts says. */
export class Transport {
  readonly #options: Required<TransportOptions> & { baseUrl: string }

  constructor(options: TransportOptions) {
    // an option may be there and undefined
    const { apiKey = '', baseUrl = '', timeoutMs = TIMEOUT_MS, deadlineMs = DEADLINE_MS } = options
    const { fetch: send = (...args: Parameters<typeof fetch>) => fetch(...args) } = options
    if (!/^prs_(test|live)_[!-~]+$/.test(apiKey))
      throw new TypeError(
        'apiKey must begin with prs_test_ or prs_live_, and end without a space or line break',
      )
    if (!URL.canParse(baseUrl) || !/\/v1\/?$/.test(baseUrl))
      throw new TypeError('baseUrl must be a URL that ends in /v1, such as https://api.example.com/v1')
    for (const [name, ms] of Object.entries({ timeoutMs, deadlineMs }))
      if (!(ms > 0)) throw new TypeError(`${name} must be more than 0 milliseconds`)
    this.#options = { apiKey, baseUrl: baseUrl.replace(/\/$/, ''), timeoutMs, deadlineMs, fetch: send }
  }

  get deadlineMs(): number {
    return this.#options.deadlineMs
  }

  /**
   * @throws {ApiError} if the API refused the call, or failed until the deadline.
   * @throws {NoAnswerError} if no answer came until the deadline.
   */
  async call(name: Name, request: object = {}, options: CallOptions = {}): Promise<object> {
    const { method, path, keyed } = calls[name]
    const waitMs = 'wait' in request ? Number(request.wait) * 1000 : 0
    const { signal, deadlineMs = this.deadlineMs + waitMs } = options
    const sent = {
      method,
      headers: {
        authorization: `Service-Key ${this.#options.apiKey}`,
        ...(method === 'POST' && { 'content-type': 'application/json' }),
        ...(keyed && { 'idempotency-key': requireKey(options.idempotencyKey ?? crypto.randomUUID()) }),
      },
      ...(method === 'POST' && { body: JSON.stringify(request) }),
      // the key is for this address alone; what redirects is not the API
      redirect: 'manual' as const,
    }
    const ends = Date.now() + deadlineMs
    let maybeDone = false
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted()
      const limitMs = Math.max(1, Math.min(this.#options.timeoutMs + waitMs, ends - Date.now()))
      const answer = await this.#attempt(path, sent, limitMs, signal)
      if (!(answer instanceof Error)) return answer
      const refusal = answer instanceof ApiError ? answer : undefined
      const wait = waitOf(attempt, refusal, Math.random())
      if (!isWorthRepeating(refusal, !ONCE.includes(name)) || Date.now() + wait > ends)
        throw Object.assign(answer, { maybeDone })
      maybeDone ||= leavesOpen(refusal)
      await pause(wait, signal)
    }
  }

  async #attempt(path: string, sent: RequestInit, limitMs: number, signal?: AbortSignal): Promise<object> {
    // timeout takes no fractions
    const late = AbortSignal.timeout(Math.ceil(limitMs))
    try {
      const either = signal ? AbortSignal.any([signal, late]) : late
      const response = await this.#options.fetch(`${this.#options.baseUrl}${path}`, {
        ...sent,
        signal: either,
      })
      const text = await response.text()
      const answer = parse(text)
      if (response.ok && answer !== undefined) return answer
      // a proxy passed on the beginning of an answer, and took it for the whole
      if (response.ok && text.startsWith('{')) return new NoAnswerError(`${path}: the answer was cut off`)
      return errorOf(response, answer)
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      const reason = late.aborted ? `within ${Math.ceil(limitMs)} ms` : `(${messageOf(cause)})`
      return new NoAnswerError(`${path}: no answer ${reason}`, { cause })
    }
  }
}

/** Checks a key as the API does: fetch would refuse the header without saying why. */
function requireKey(key: string): string {
  if (!/^[!-~]{1,255}$/.test(key))
    throw new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters')
  return key
}

/** @returns undefined for what is no object. */
function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** The error of a response; a proxy’s own response has no code. */
function errorOf({ status, headers }: Response, body: object = {}): ApiError {
  const error = 'error' in body ? (Object(body.error) as Partial<Record<string, unknown>>) : {}
  const { code = 'NO_CODE', message = `The answer had status ${status} and was not the API’s`, next } = error
  const retryAfter = readRetryAfter(headers.get('retry-after'))
  const fields = Array.isArray(error.fields) ? (error.fields as WrongField[]) : []
  const requestId = headers.get('x-request-id') ?? undefined
  const failure = { status, code: String(code), requestId, retryAfter, fields, maybeDone: false }
  if (typeof next === 'string') return new CursorLostError(String(message), failure, next)
  const Known = Object.hasOwn(errorClasses, failure.code) ? errorClasses[failure.code] : undefined
  return new (Known ?? ApiError)(String(message), failure)
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? messageOf(error.cause) : error.message
}

/** @throws the signal’s reason once it is aborted. */
export function pause(ms: number, given: AbortSignal | undefined): Promise<void> {
  // a signal of its own: Node warns of a leak if one signal has many listeners
  const signal = given && AbortSignal.any([given])
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
