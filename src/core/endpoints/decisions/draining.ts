/** How many leads of a draining endpoint are woken a second: well below live traffic. */
const LEADS_PER_SECOND = 20
/** Half of an endpoint's cap: the rest is for live traffic. */
export const DRAINING_IN_FLIGHT = 5
/** How long an endpoint that has as many in flight is left alone: first, and at most. */
const FULL_MS = { first: 250, longest: 5000 }

/** So many looks without room take about ten seconds. */
const CROWDED_OUT = 6

/** Whether live traffic has left no room for so long that one lead is woken all the same: it must not wait for ever. */
export const isCrowdedOut = (full: number): boolean => full >= CROWDED_OUT

/** How far the leads of a draining endpoint are woken. */
export interface WakeProgress {
  /** The draining, by its beginning; empty before the first. */
  since: string
  /** Leads up to this id are awake. */
  leadId: number
}

/**
 * How long to wait before the next leads are woken.
 *
 * @param woken how many just were.
 * @param full how often in a row there was no room for any.
 */
export function wakePauseMs(woken: number, full: number): number {
  if (woken > 0) return (woken * 1000) / LEADS_PER_SECOND
  return Math.min(FULL_MS.first * 2 ** (full - 1), FULL_MS.longest)
}
