import type { Evidence } from '../evidence.ts'
import { checkAnswers } from './answers.ts'
import { checkDuplicates } from './duplicates.ts'
import { checkFeeds } from './feeds.ts'
import { checkHistories } from './histories.ts'
import { checkLeads } from './leads.ts'
import { checkRestore, withoutLost } from './restore.ts'
import { checkRun } from './the-run.ts'
import type { Verdict } from './verdict.ts'
import { checkWebhooks } from './webhooks.ts'
import { checkWorkflows } from './workflows.ts'

/** Every invariant, by what a run has left behind alone. */
export function check(evidence: Evidence): Verdict[] {
  const kept = withoutLost(evidence)
  const parts = [checkLeads, checkHistories, checkFeeds, checkWebhooks, checkDuplicates, checkWorkflows]
  return [...[...parts, checkAnswers, checkRun].flatMap((part) => part(kept)), ...checkRestore(evidence)]
}
