/** @import { Answer, FieldProblem, Path } from './types.js' */

/** For this tab only: sessionStorage ends with it. */
const STORED_KEY = 'partner-key'
/** Longer than what list-events waits for news. */
const MOST_ANSWER_MS = 35_000

export const KEY_NOT_ACCEPTED = 'The API does not accept this key: it may be mistyped, expired or revoked.'

/** @param {string} key */
export const shortened = (key) => `${key.slice(0, 9)}…${key.slice(-4)}`

export const readKey = () => sessionStorage.getItem(STORED_KEY)
/** @param {string} key */
export const storeKey = (key) => sessionStorage.setItem(STORED_KEY, key)
export const forgetKey = () => sessionStorage.removeItem(STORED_KEY)

/** What the API or the network answered instead of a result. */
export class ApiFailure extends Error {
  /**
   * @param {string} message for people
   * @param {{ status: number, requestId?: string | null, retryMs?: number, next?: string, fields?: FieldProblem[] }} facts
   *   `status`: 0 for none. `retryMs`: how long to wait, at least. `next`: the cursor to continue with.
   */
  constructor(message, { status, requestId = null, retryMs = 0, next, fields = [] }) {
    super(message)
    this.status = status
    this.requestId = requestId
    this.retryMs = retryMs
    this.next = next
    this.fields = fields
  }
}

/** @type {() => void} */
let refused = () => {}

/** @param {() => void} handler called when the API no longer accepts the key */
export function onRefused(handler) {
  refused = handler
}

/**
 * Calls the API with the partner's key.
 *
 * @template {Path} Of
 * @param {Of} path below `/v1`
 * @param {object} [body]
 * @param {{ signal?: AbortSignal | undefined, method?: 'POST' | 'GET', headers?: Record<string, string> | undefined }} [options]
 * @returns {Promise<Answer<Of>>} the parsed answer
 * @throws {ApiFailure}
 */
export async function call(path, body = {}, { signal, method = 'POST', headers = {} } = {}) {
  const key = readKey() ?? ''
  const unanswered = (/** @type {unknown} */ error) => {
    throw signal?.aborted ? error : new ApiFailure('The API did not answer.', { status: 0 })
  }
  const response = await fetch(`/v1${path}`, {
    method,
    headers: { authorization: `Service-Key ${key}`, 'content-type': 'application/json', ...headers },
    ...(method === 'POST' && { body: JSON.stringify(body) }),
    // a connection that died silently would block a view for minutes
    signal: AbortSignal.any([AbortSignal.timeout(MOST_ANSWER_MS), ...(signal ? [signal] : [])]),
  }).catch(unanswered)
  const answer = await response.json().catch((/** @type {unknown} */ error) => {
    if (response.ok) unanswered(error)
  })
  if (response.ok && answer?.success === true) return answer
  // an answer to a key that was replaced meanwhile says nothing about the new one
  if (response.status === 401 && key === (readKey() ?? '')) refused()
  throw new ApiFailure(answer?.error?.message ?? `The API answered with status ${response.status}.`, {
    status: response.status,
    next: answer?.error?.next,
    fields: answer?.error?.fields,
    requestId: response.headers.get('x-request-id'),
    retryMs: (Number(response.headers.get('retry-after')) || 0) * 1000,
  })
}
