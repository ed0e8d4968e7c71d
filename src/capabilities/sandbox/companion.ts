import type { Companion } from '../../core/leads/companion.ts'
import { scenarioOfEmail } from './decisions/scenarios.ts'
import { playing } from './statements/sandbox-runs.ts'
import type { Scenarios } from './workflows/scenarios.ts'

/** The scenario that a lead's email address names: it is played once the lead is committed. */
export const scenarioCompanion = (scenarios: Pick<Scenarios, 'offer'>): Companion => ({
  of({ email }) {
    const scenario = scenarioOfEmail(email)
    return scenario && playing(scenario)
  },
  start: (partnerId) => scenarios.offer(partnerId),
})
