import { leadOf } from '../../../src/temporal/names.ts'
import type { Evidence } from '../evidence.ts'
import { type Verdict, verdict } from './verdict.ts'

/** Attempts of a workflow task after which something is wrong with its workflow. */
const MOST_TASK_ATTEMPTS = 3

export function checkWorkflows({ leads, record, faults, workflows }: Evidence): Verdict[] {
  const known = new Set(record.leads.map(({ id }) => id))
  const acknowledged = leads.flatMap(({ leadId }) => leadId ?? [])
  const runs = Map.groupBy(workflows, ({ workflowId }) => workflowId)
  const isRestored = faults.some(({ kind }) => kind === 'restore')
  // a run that is reset is terminated
  const endsOf = (workflowId: string) =>
    (runs.get(workflowId) ?? []).flatMap(({ status }) =>
      ['CONTINUED_AS_NEW', 'TERMINATED'].includes(status) ? [] : status,
    )
  return [
    verdict('every lead has one chain of workflow runs', acknowledged, (leadId) => {
      const ends = endsOf(`lead-${leadId}`)
      const isOne = ends.length === 1 && ['RUNNING', 'COMPLETED'].includes(ends[0] ?? '')
      return !isOne && `lead ${leadId}: ${ends.join() || 'none'}`
    }),
    verdict('every workflow has a lead, or ended because that was lost', runs.keys(), (workflowId) => {
      const isEnded = isRestored && endsOf(workflowId).join() === 'COMPLETED'
      return !known.has(leadOf(workflowId) ?? 0) && !isEnded && workflowId
    }),
    verdict('no workflow task fails again and again', workflows, ({ workflowId, taskAttempt }) => {
      return taskAttempt > MOST_TASK_ATTEMPTS && `${workflowId}: attempt ${taskAttempt}`
    }),
  ]
}
