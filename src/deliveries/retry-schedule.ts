import { DAY_MS, HOUR_MS, MINUTE_MS } from '../values.ts'

/** The waits before the attempts of a delivery, as Standard Webhooks recommends. After the last, one attempt a day. */
export const RETRY_DELAYS_MS: readonly number[] = [
  0,
  5 * 1000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  DAY_MS,
]

export const SCHEDULE_DAYS = RETRY_DELAYS_MS.reduce((sum, delayMs) => sum + delayMs) / DAY_MS

/** Whether the failure was that of the schedule's last attempt, or of a later one. */
export const isLastScheduled = (failures: number) => failures >= RETRY_DELAYS_MS.length

/** Added to each wait, so that an outage is not followed by a thundering herd. */
const MOST_JITTER = 0.2

/**
 * The wait before the next attempt of a delivery that has failed `failures` times, in milliseconds.
 *
 * @param random gives numbers from 0 to below 1.
 */
export function attemptDelayMs(failures: number, random: () => number): number {
  const delayMs = RETRY_DELAYS_MS[failures] ?? DAY_MS
  return Math.round(delayMs * (1 + MOST_JITTER * random()))
}

/**
 * When a delivery is tried again that has failed `failures` times. A `Retry-After` can make that later than the schedule, up
 * to 24 h, and never sooner.
 *
 * @param retryAfter the header as it came.
 */
export function nextAttemptAt(
  failures: number,
  retryAfter: string | null,
  { now, random }: { now: Date; random: () => number },
): Date {
  const askedMs = Math.min(retryAfterMs(retryAfter, now) ?? 0, DAY_MS)
  return new Date(now.getTime() + Math.max(attemptDelayMs(failures, random), askedMs))
}

const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * The wait that a `Retry-After` header asks for, in milliseconds from `now`, at least 0. `undefined` for no header and for
 * anything that is neither seconds nor a date: a partner's mistake must not change our schedule.
 *
 * Source: RFC 9110, section 10.2.3, without the two obsolete forms of a date.
 */
function retryAfterMs(header: string | null, now: Date): number | undefined {
  const value = header?.trim() ?? ''
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER)
  const at = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime())
}

/** A delivery's place in the retry schedule. */
export interface Schedule {
  /** The endpoint's round in which it failed last; 0 if it has not. */
  round: number
  failures: number
  nextAttemptAt: Date
}

/**
 * A delivery's schedule in a round of its endpoint. Each change of the endpoint begins another round, in which each open
 * delivery is at its first attempt and due now. Its date is not used: PostgreSQL's clock may have been ahead when it was set.
 */
export function inRound<Stored extends Schedule>(delivery: Stored, round: number, now: Date): Stored {
  if (delivery.round === round) return delivery
  return { ...delivery, failures: 0, nextAttemptAt: now }
}
