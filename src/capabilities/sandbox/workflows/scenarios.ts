import type { Client } from '@temporalio/client'
import { CLOCK_MOVING, LEAD_CLOSED, runScenarioUpdate } from '../../../../workflows/messages.ts'
import { type Referrals, refusalOf } from '../../../core/leads/workflows/referrals.ts'
import { reachTemporal } from '../../../core/temporal/client.ts'
import type { ScenarioEnd, ScenarioName } from '../decisions/scenarios.ts'

export interface Scenarios {
  /** Rejects while Temporal is away: asked before a lead is made. */
  requireTemporal(): Promise<void>
  /** Has a lead's workflow play a scenario, and waits for its end, eight seconds at most: `running`. */
  run(leadId: number, scenario: ScenarioName): Promise<ScenarioEnd | 'running' | 'moving'>
}

/** The one way in which scenarios are started, but for those that an address names. */
export function createScenarios(client: Client, referrals: Pick<Referrals, 'update'>): Scenarios {
  return {
    requireTemporal: async () => reachTemporal(client),
    async run(leadId, scenario) {
      try {
        return (await referrals.update(leadId, runScenarioUpdate, [{ scenario }])) ?? 'closed'
      } catch (error) {
        const refusal = refusalOf(error)
        if (refusal === CLOCK_MOVING) return 'moving'
        if (refusal === LEAD_CLOSED) return 'closed'
        throw error
      }
    },
  }
}
