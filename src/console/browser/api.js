/** @import { Answer, FieldProblem, Path } from './types.js' */

/** For this tab only: sessionStorage ends with it. */
const STORED_KEY = 'partner-key'
/** Longer than what list-events waits for news. */
const MOST_ANSWER_MS = 35_000

/** What the API or the network answered instead of a result. */
export class ApiFailure extends Error {
  /**
   * @param {{ status: number, code: string, message: string, requestId?: string | null, retryMs?: number, next?: string, fields?: FieldProblem[] }} facts
   *   `status`: 0 for none. `retryMs`: how long to wait, at least. `next`: the cursor to continue with.
   */
  constructor({ status, code, message, requestId = null, retryMs = 0, next, fields = [] }) {
    super(message)
    this.status = status
    this.code = code
    this.requestId = requestId
    this.retryMs = retryMs
    this.next = next
    this.fields = fields
  }
}

export const KEY_NOT_ACCEPTED = 'The API does not accept this key: it may be mistyped, expired or revoked.'

/** @param {string} key */
export const shortened = (key) => `${key.slice(0, 9)}…${key.slice(-4)}`

export const readKey = () => sessionStorage.getItem(STORED_KEY)
/** @param {string} key */
export const storeKey = (key) => sessionStorage.setItem(STORED_KEY, key)
export const forgetKey = () => sessionStorage.removeItem(STORED_KEY)

/** @type {() => void} */
let refused = () => {}

/** @param {() => void} handler called when the API does not know the key any more */
export function onRefused(handler) {
  refused = handler
}

/** @type {() => void} */
let unreachable = () => {}

/** @param {() => void} handler called when the service is away */
export function onUnreachable(handler) {
  unreachable = handler
}

/**
 * Calls the API with the partner's key.
 *
 * @template {Path} Of
 * @param {Of} path below `/v1`
 * @param {object} [body]
 * @param {{ signal?: AbortSignal, method?: 'POST' | 'GET', headers?: Record<string, string> }} [options]
 * @returns {Promise<Answer<Of>>} the parsed answer
 * @throws {ApiFailure} with a `message` for people
 */
export async function call(path, body = {}, { signal, method = 'POST', headers = {} } = {}) {
  const key = readKey() ?? ''
  const unanswered = (/** @type {unknown} */ error) => {
    if (signal?.aborted) throw error
    unreachable()
    throw new ApiFailure({ status: 0, code: 'UNREACHABLE', message: 'The API did not answer.' })
  }
  const response = await fetch(`/v1${path}`, {
    method,
    headers: {
      authorization: `Service-Key ${key}`,
      'content-type': 'application/json',
      ...headers,
    },
    ...(method === 'POST' && { body: JSON.stringify(body) }),
    // a connection that is dead without a word would keep a view for minutes
    signal: AbortSignal.any([AbortSignal.timeout(MOST_ANSWER_MS), ...(signal ? [signal] : [])]),
  }).catch(unanswered)
  const answer = await response.json().catch((/** @type {unknown} */ error) => {
    if (response.ok) unanswered(error)
  })
  if (response.ok && answer?.success === true) return answer
  const failure = toFailure(response, answer)
  if (isAway(failure)) unreachable()
  // an answer to a key that was replaced meanwhile says nothing about the new one
  if (failure.status === 401 && key === (readKey() ?? '')) refused()
  throw failure
}

/** @param {Response} response @param {any} answer */
function toFailure({ status, headers }, answer) {
  return new ApiFailure({
    status,
    code: answer?.error?.code ?? `HTTP ${status}`,
    message: answer?.error?.message ?? `The API answered with status ${status}.`,
    next: answer?.error?.next,
    fields: answer?.error?.fields,
    requestId: headers.get('x-request-id'),
    retryMs: (Number(headers.get('retry-after')) || 0) * 1000,
  })
}

/** Whether the service is away, rather than that it refuses. @param {unknown} error */
export const isAway = (error) => error instanceof ApiFailure && [0, 503].includes(error.status)

/**
 * What happened, and what to do. A service that is away is one sentence, wherever it is met.
 *
 * @param {Error} error
 * @param {boolean} isRepeated whether the console tries again by itself
 * @returns {[what: string, advice?: string]}
 */
export function explain(error, isRepeated) {
  if (!(error instanceof ApiFailure)) return [error.message, 'Reload the page. If it happens again, tell us.']
  const { status, message, requestId } = error
  if (isAway(error)) {
    const what = status === 0 ? 'The API did not answer' : 'The service is unavailable for the moment'
    return [`${what}: ${isRepeated ? 'the console keeps trying' : 'try again in a few seconds'}.`]
  }
  // the others' messages say what to do
  if (status < 500) return [message]
  return [message, `Try again. If it happens again, tell us the request id ${requestId ?? ''}.`]
}
