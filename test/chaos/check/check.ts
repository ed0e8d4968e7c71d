import type { Evidence } from '../evidence.ts'
import { checkHistories } from './history.ts'
import { checkLeads } from './leads.ts'
import { checkService, checkVacuity } from './service.ts'
import type { Verdict } from './verdict.ts'
import { checkWebhooks } from './webhooks.ts'

/** Every invariant, by what a run has left behind alone. */
export function check(evidence: Evidence): Verdict[] {
  return [checkLeads, checkHistories, checkWebhooks, checkService, checkVacuity].flatMap((part) =>
    part(evidence),
  )
}
