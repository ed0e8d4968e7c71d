import { sql as raw } from 'kysely'
import { LEASE_MS } from '../decisions/delivery.ts'
import { HOUR_MS } from '../../values/durations.ts'

/** What a new lease writes: only its holder, an attempt, sends and settles the delivery. */
export const leaseOf = (attemptId: string) => ({
  lease: attemptId,
  leased_until: raw<Date>`clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'`,
})

/** What the end of a lease writes. */
export const noLease = { lease: null, leased_until: null }

/**
 * Whether a delivery has a lease that holds, as far as PostgreSQL's clock tells. One that ends further ahead than a lease is
 * long was taken before that clock was set back.
 */
export const isLeased = raw<boolean>`coalesce(leased_until > clock_timestamp()
  and leased_until <= clock_timestamp() + ${raw.lit(LEASE_MS)} * interval '1 millisecond', false)`

/** Whether this process may take the lease of a delivery, `null` if nobody has it. */
export type MayTake = (lease: string | null) => boolean

/**
 * Judges when the lease of another attempt may be taken: once this process has known it for as long as a lease is long, by
 * its own monotonic clock. By then its holder sends nothing any more, whatever became of its process, and however the clocks
 * of all machines were set meanwhile.
 */
export function createLeaseJudge(monotonicMs = () => performance.now()): MayTake {
  const knownSince = new Map<string, number>()
  return (lease) => {
    if (lease === null) return true
    const nowMs = monotonicMs()
    // in the order in which they became known; most have ended well
    for (const [known, sinceMs] of knownSince) {
      if (nowMs - sinceMs < HOUR_MS) break
      knownSince.delete(known)
    }
    const sinceMs = knownSince.get(lease) ?? nowMs
    knownSince.set(lease, sinceMs)
    return nowMs - sinceMs >= LEASE_MS
  }
}
