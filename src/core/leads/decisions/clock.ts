import { DAY_MS } from '../../values/durations.ts'

/** The furthest that a sandbox moves a lead's clock, all of its moves together. */
export const MOST_YEARS = 20

/** The same in milliseconds. */
export const MOST_AHEAD_MS = MOST_YEARS * 365.25 * DAY_MS
