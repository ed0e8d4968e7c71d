import { type Calls, calls, shapes } from './api.ts'
import { type Attempt, readAnswer } from './answers.ts'
import { NoAnswerError } from './errors.ts'
import { isWorthRepeating, leavesOpen, waitOf } from './retries.ts'
import { decode, encode } from './wire.ts'

export interface TransportOptions {
  /** `prs_test_…` or `prs_live_…`. Undefined, as a variable that is not set, is refused. */
  apiKey: string | undefined
  /** For example `https://api.example.com/v1`. */
  baseUrl: string | undefined
  /** For one attempt, in milliseconds: 15 s by default, and the API answers within ten. What a call waits for comes on top. */
  timeoutMs?: number
  /** For a call with all its attempts, in milliseconds: 60 s by default. What a call waits for comes on top. */
  deadlineMs?: number
  /** Instead of the global one. */
  fetch?: typeof fetch
}

export interface CallOptions {
  signal?: AbortSignal
  /** For this call, in milliseconds. */
  deadlineMs?: number
  /**
   * Makes a repeat safe, also one by another process after a crash: the same key within 24 hours gets the first answer
   * again. Without one, the client makes one for all attempts of the call. Calls that take none ignore it.
   */
  idempotencyKey?: string
}

export type Name = keyof Calls
export type Request<Call extends Name> = Calls[Call]['request']
export type Response<Call extends Name> = Calls[Call]['response']

/** A test request to an endpoint may take fifteen seconds. */
const TIMEOUT_MS = 20_000
const DEADLINE_MS = 60_000

/** Carrying these out twice is not the same as once, and they take no Idempotency-Key. */
const ONCE: readonly Name[] = ['advanceClock', 'runScenario', 'testEndpoint']

interface Sending {
  key: string | undefined
  signal: AbortSignal | undefined
  limitMs: number
  maybeDone: boolean
}

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
   * @param options `waitMs`: how long the API may wait before it answers, beside what an answer may take.
   * @throws {ApiError} if the API refused the call, or failed until the deadline.
   * @throws {NoAnswerError} if no answer came until the deadline.
   */
  async call<Call extends Name>(
    name: Call,
    request: Request<Call>,
    options: CallOptions & { waitMs?: number } = {},
  ): Promise<Response<Call>> {
    const { waitMs = 0, signal, deadlineMs = this.#options.deadlineMs + waitMs } = options
    const { keyed, request: shape, response } = calls[name]
    const body = JSON.stringify(encode(shapes, shape, request ?? {}))
    const key = keyed ? requireKey(options.idempotencyKey ?? crypto.randomUUID()) : undefined
    const mayRepeat = !ONCE.includes(name)
    const ends = Date.now() + deadlineMs
    const timeoutMs = this.#options.timeoutMs + waitMs
    let maybeDone = false
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted()
      // AbortSignal.timeout takes no fractions
      const limitMs = Math.ceil(Math.max(1, Math.min(timeoutMs, ends - Date.now())))
      const made = await this.#attempt(name, body, { key, signal, limitMs, maybeDone })
      if (!('error' in made)) return decode(shapes, response, made.body) as Response<Call>
      const { error, answer } = made
      const wait = waitOf(attempt, answer, Math.random())
      if (!isWorthRepeating(answer, mayRepeat) || Date.now() + wait > ends) throw error
      maybeDone ||= leavesOpen(answer)
      await pause(wait, signal)
    }
  }

  async #attempt(name: Name, body: string, { key, signal, limitMs, maybeDone }: Sending): Promise<Attempt> {
    const { method, path } = calls[name]
    const late = AbortSignal.timeout(limitMs)
    try {
      const response = await this.#options.fetch(`${this.#options.baseUrl}${path}`, {
        method,
        headers: {
          authorization: `Service-Key ${this.#options.apiKey}`,
          ...(method === 'POST' && { 'content-type': 'application/json' }),
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        ...(method === 'POST' && { body }),
        signal: signal ? AbortSignal.any([signal, late]) : late,
        // the key is for this address alone; what redirects is not the API
        redirect: 'manual',
      })
      return await readAnswer(name, response, maybeDone)
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      const reason = late.aborted ? `within ${limitMs} ms` : `(${messageOf(cause)})`
      return { error: new NoAnswerError(`${path}: no answer ${reason}`, { cause }), answer: undefined }
    }
  }
}

/** As the API takes it; as a header it would fail without a word of why. */
function requireKey(key: string): string {
  if (!/^[!-~]{1,255}$/.test(key))
    throw new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters')
  return key
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? messageOf(error.cause) : error.message
}

/** @throws the signal’s reason once it is aborted. */
export function pause(ms: number, given: AbortSignal | undefined): Promise<void> {
  // one of its own: Node 20 takes many listeners of one signal for a leak, and warns
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
