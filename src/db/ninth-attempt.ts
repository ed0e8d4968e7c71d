import type { RawBuilder } from 'kysely'

/** The last failure but one of the schedule. */
const NINTH = 9

/**
 * Keeps the date of the attempt that brought a delivery's failures to nine: the tenth gives the delivery up only if the
 * endpoint has taken others since. A resume clears it with the failures.
 */
export function ninthAttempt(failures: number, startedAt: RawBuilder<Date>) {
  return failures === NINTH ? { ninth_attempt_at: startedAt } : {}
}
