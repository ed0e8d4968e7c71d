/** Whether and when a call is made again: pure, so that the worst cases are a table in the tests. */

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 8_000
/** Whatever `Retry-After` says: clients that repeat a call without a pause would keep the service busy. */
const SHORTEST_WAIT_MS = 100
const SECOND_MS = 1000

export interface Answer {
  status: number
  /** In seconds. */
  retryAfter: number | undefined
}

/** Statuses after which the same request may succeed. */
const TEMPORARY = [408, 429, 500, 502, 503, 504]
/** Statuses after which nothing was carried out. */
const NOT_BEGUN = [429]

/**
 * @param answer undefined if none came.
 * @param mayRepeat whether carrying the request out twice is the same as once.
 */
export function isWorthRepeating(answer: Answer | undefined, mayRepeat: boolean): boolean {
  if (answer === undefined) return mayRepeat
  // a temporary conflict has a Retry-After
  if (answer.status === 409) return answer.retryAfter !== undefined
  return (mayRepeat ? TEMPORARY : NOT_BEGUN).includes(answer.status)
}

/** Whether the request may have been carried out, although the answer does not say so. */
export function leavesOpen(answer: Answer | undefined): boolean {
  return answer === undefined || answer.status === 408 || answer.status >= 500
}

/**
 * Milliseconds until the next attempt: what the API asks for, or else exponential backoff, less up to half at random, so
 * that many clients don’t come back at the same time.
 *
 * @param attempt 1 after the first.
 * @param random from 0 to 1.
 */
export function waitOf(attempt: number, answer: Answer | undefined, random: number): number {
  if (answer?.retryAfter !== undefined) return Math.max(SHORTEST_WAIT_MS, answer.retryAfter * SECOND_MS)
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1))
  return longest * (1 - random / 2)
}

/** @returns undefined for what is not a number of seconds: HTTP allows dates, and the API sends none. */
export function readRetryAfter(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined
}
