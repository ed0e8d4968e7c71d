import type { ReferralState } from '../domain/referral.ts'
import type { Referrals } from './referrals.ts'

const MAX_IN_FLIGHT = 8

/**
 * Starts workflows right after create-lead's commit, not awaited by its answer. The ninth at a time is not
 * queued but left to the worker's sweep, so that a Temporal that is slow or away costs the API nothing.
 */
export function boundedStarts(referrals: Referrals, onFailure: (error: unknown, leadId: number) => void) {
  const inFlight = new Set<Promise<void>>()
  return {
    offer(state: ReferralState): void {
      if (inFlight.size >= MAX_IN_FLIGHT) return
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
