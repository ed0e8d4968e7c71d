import { FAILING_AFTER } from './delivery.ts'
import { retryAfterMs } from './retry-after.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The waits before the attempts of a delivery; those of Standard Webhooks. Once they are used up, one attempt a day. */
export const RETRY_DELAYS_MS: readonly number[] = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  DAY,
]

/** How long the schedule takes, in days. */
export const SCHEDULE_DAYS = RETRY_DELAYS_MS.reduce((sum, delay) => sum + delay) / DAY

/** How long after its first attempt a webhook is reported as failing, in minutes; jitter and `Retry-After` add to it. */
export const FAILING_AFTER_MINUTES = Math.floor(
  RETRY_DELAYS_MS.slice(0, FAILING_AFTER).reduce((sum, delay) => sum + delay) / MINUTE,
)

/** Whether this was the schedule's last attempt. */
export function isLastScheduled(failures: number): boolean {
  return failures >= RETRY_DELAYS_MS.length
}

/**
 * Whether the last attempt but one was made. If the endpoint accepts other webhooks from then on, the last failure is this
 * delivery's own. True for every later failure too: a shorter schedule may be deployed while a delivery is beyond its end.
 */
export function isLastButOneMade(failures: number): boolean {
  return failures >= RETRY_DELAYS_MS.length - 1
}

/** Avoids a thundering herd after an outage. */
const JITTER = 0.2

/** How long an endpoint may fail without one success before it is paused. */
export const PAUSE_AFTER_HOURS = 72
export const PAUSE_AFTER_MS = PAUSE_AFTER_HOURS * HOUR

/**
 * The wait before the next attempt of a delivery that has failed `failures` times, in milliseconds:
 * the schedule's, then a day each, plus 0 to 20 %. `random` gives numbers from 0 to below 1.
 */
export function attemptDelayMs(failures: number, random: () => number): number {
  const delay = RETRY_DELAYS_MS[failures] ?? DAY
  return Math.round(delay * (1 + JITTER * random()))
}

/** A wait of about `ms`: ± 20 %, to avoid a thundering herd. */
export function withJitter(ms: number, random: () => number): number {
  return Math.round(ms * (1 - JITTER + 2 * JITTER * random()))
}

export interface FailedAttempt {
  /** Failed attempts of this delivery so far, with the one just made. */
  failures: number
  /** The answer's `Retry-After` header as it came. */
  retryAfter: string | null
  now: Date
  random: () => number
}

/**
 * When a delivery is tried again. A `Retry-After` can make that later than the schedule, up to 24 h,
 * and never sooner.
 */
export function nextAttemptAt({ failures, retryAfter, now, random }: FailedAttempt): Date {
  const asked = Math.min(retryAfterMs(retryAfter, now) ?? 0, DAY)
  return new Date(now.getTime() + Math.max(attemptDelayMs(failures, random), asked))
}
