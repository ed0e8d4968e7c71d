import { DAY_MS, HOUR_MS, MINUTE_MS } from '../values.ts'

// All dates are milliseconds since the epoch, so that they survive JSON and compare by `<`.

/** The cadence of score updates: interface specification, section 6. */
export const SCORE_PERIOD_DAYS = 45
export const SCORE_PERIOD_MS = SCORE_PERIOD_DAYS * DAY_MS

/** How long a lead stays open for late facts once its borrower is mortgage ready. */
export const LATE_FACTS_MS = 30 * DAY_MS

/** When a lead ends that is mortgage ready since `readyAt`; `null` before that. */
export function endOf(readyAt: Date | null): number | null {
  return readyAt === null ? null : readyAt.getTime() + LATE_FACTS_MS
}

/**
 * The absolute date of score update `period` (1, 2, …). It depends on the anchor alone, so neither a late
 * delivery nor an outage moves any later date.
 */
export function scoreDate(anchor: number, period: number): number {
  return anchor + period * SCORE_PERIOD_MS
}

/**
 * The period to record at `now`, when `next` is due: the latest one whose date has come. After an outage of
 * several periods the ones in between are left out, so that one update is sent, not several.
 */
export function duePeriod(anchor: number, next: number, now: number): number {
  return Math.max(next, Math.floor((now - anchor) / SCORE_PERIOD_MS))
}

const UNITS = [
  [DAY_MS, 'day'],
  [HOUR_MS, 'hour'],
  [MINUTE_MS, 'minute'],
] as const

/** How far a lead's clock runs ahead, as text in the largest unit that fits: `1.5 hours`. */
export function aheadText(ms: number): string {
  const [unit, name] = UNITS.find(([least]) => ms >= least) ?? [1000, 'second']
  const count = Math.round((ms / unit) * 10) / 10
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
