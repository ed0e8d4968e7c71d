import type { ReferralState } from '../decisions/referral.ts'
import type { Referrals } from './referrals.ts'

/**
 * Starts workflows right after create-lead's commit, not awaited by its answer. One beyond `limit` at a
 * time is left to the worker's sweep, so that a Temporal that is slow or away costs the API nothing.
 */
export function boundedStarts(
  referrals: Referrals,
  limit: number,
  onFailure: (error: unknown, leadId: number) => void,
) {
  const inFlight = new Set<Promise<void>>()
  return {
    offer(state: ReferralState): void {
      if (inFlight.size >= limit) return
      const starting = referrals
        .start(state)
        .catch((error: unknown) => onFailure(error, state.leadId))
        .finally(() => inFlight.delete(starting))
      inFlight.add(starting)
    },
    async settled(): Promise<void> {
      await Promise.all(inFlight)
    },
  }
}
