/** Whether and when a call is made again: pure, so that the worst cases are a table in the tests. */

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 8_000
/** Whatever was asked for: without a pause, a client that is told to come back at once keeps a service busy. */
const SHORTEST_WAIT_MS = 100
const SECOND_MS = 1000

export interface Answer {
  status: number
  /** In seconds. */
  retryAfter: number | undefined
}

/** Statuses after which the same request may succeed. */
const TEMPORARY = [408, 429, 500, 502, 503, 504]
/** Before anything was carried out. */
const NOT_BEGUN = [429]

/**
 * @param answer undefined if none came.
 * @param mayRepeat whether carrying the request out twice is the same as once.
 */
export function isWorthRepeating(answer: Answer | undefined, mayRepeat: boolean): boolean {
  if (answer === undefined) return mayRepeat
  // a conflict that passes says so
  if (answer.status === 409) return answer.retryAfter !== undefined
  return (mayRepeat ? TEMPORARY : NOT_BEGUN).includes(answer.status)
}

/** Whether the request may have been carried out, though it was not answered so. */
export function leavesOpen(answer: Answer | undefined): boolean {
  return answer === undefined || answer.status === 408 || answer.status >= 500
}

/**
 * What the API asks for; else twice the wait before, of which a random half is left out, so that many clients don’t come
 * back at the same time.
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
