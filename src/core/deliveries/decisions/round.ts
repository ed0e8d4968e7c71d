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
