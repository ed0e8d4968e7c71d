import { FAILING_AFTER } from './delivery-states.ts'

/** HTTP dates as RFC 9110 has them, without their weekday: IMF-fixdate, RFC 850 and asctime. */
const HTTP_DATES = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
]

/**
 * The wait that a `Retry-After` header asks for, in milliseconds from `now`, at least 0. A date in the
 * past asks for none. `undefined` for no header and for anything that is neither seconds nor an HTTP
 * date: a partner's mistake must not change our schedule.
 *
 * Source: RFC 9110, section 10.2.3.
 */
export function retryAfterMs(header: string | null | undefined, now: Date): number | undefined {
  const value = header?.trim()
  if (!value) return undefined
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER)
  if (!HTTP_DATES.some((format) => format.test(value))) return undefined
  // The third form has no zone and means UTC; without it Date.parse would take the machine's zone.
  const at = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime())
}

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

/** A delivery's place in the retry schedule. */
export interface Schedule {
  /** The endpoint's round in which it failed last; 0 if it has not. */
  round: number
  failures: number
  nextAttemptAt: Date
  /** When the schedule's last attempt but one had failed; `null` before it. */
  lastButOneAt: Date | null
}

/**
 * What of it counts in a round of its endpoint. A resume, a new URL and an accepted probe begin another round, in which each
 * open delivery is at its first attempt, and due now.
 */
export function inRound<Stored extends Schedule>(delivery: Stored, round: number, now: Date): Stored {
  if (delivery.round === round || delivery.round === 0) return delivery
  return { ...delivery, failures: 0, nextAttemptAt: now, lastButOneAt: null }
}
