import type { Companion } from '../../../core/leads/companion.ts'
import { scenarioOfEmail } from '../decisions/scenarios.ts'
import { sandboxOf } from './dependencies.ts'
import { playing } from '../statements/sandbox-runs.ts'

/** The scenario that a lead's email address names, in a sandbox: it is played once the lead is committed. */
export function scenarioCompanion(dependencies: Parameters<typeof sandboxOf>[0]): Companion | undefined {
  const sandbox = sandboxOf(dependencies)
  return (
    sandbox && {
      of({ email }) {
        const scenario = scenarioOfEmail(email)
        return scenario && playing(scenario)
      },
      start: (partnerId) => sandbox.scenarios.offer(partnerId),
    }
  )
}
