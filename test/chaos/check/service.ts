import { answerFault } from '../../support/answer-fault.ts'
import { leadOf } from '../../../src/core/temporal/names.ts'
import { type FaultKind, faultKinds } from '../fault-plan.ts'
import type { Evidence } from '../evidence.ts'
import { grouped, type Verdict, verdict } from './verdict.ts'

/** What valid requests of a partner are answered with; 404 is for those that ask for another's lead. */
const EXPECTED = [200, 404, 503]
/** Attempts of a workflow task after which something is wrong with its workflow. */
const MOST_TASK_ATTEMPTS = 3

export function checkService({ leads, calls, workflows, accounts, ends, search }: Evidence): Verdict[] {
  const known = new Set(leads.flatMap(({ leadId }) => leadId ?? []))
  const runs = grouped(workflows, ({ workflowId }) => workflowId)
  const answers = calls.filter(({ status }) => status !== null)
  return [
    verdict('every lead has one chain of workflow runs, which is running or completed', known, (leadId) => {
      const last = (runs.get(`lead-${leadId}`) ?? []).filter(({ status }) => status !== 'CONTINUED_AS_NEW')
      const isOne = last.length === 1 && ['RUNNING', 'COMPLETED'].includes(last[0]?.status ?? '')
      return !isOne && `lead ${leadId}: ${last.map(({ status }) => status).join() || 'none'}`
    }),
    verdict('every workflow has a lead', runs.keys(), (workflowId) => {
      return !known.has(leadOf(workflowId) ?? 0) && workflowId
    }),
    verdict('no workflow task fails again and again', workflows, ({ workflowId, taskAttempt }) => {
      return taskAttempt > MOST_TASK_ATTEMPTS && `${workflowId}: attempt ${taskAttempt}`
    }),
    verdict('every message that a workflow received was decided about', accounts, (account) => {
      const { leadId, received, decided, waiting, acknowledged } = account
      const isSettled = waiting === 0 && received === decided && received >= acknowledged
      return (
        !isSettled && `lead ${leadId}: ${received} received, ${decided} decided, ${acknowledged} acknowledged`
      )
    }),
    verdict('every answer of the API is one of the specification, and no 5xx but 503', answers, (answer) => {
      const { path, status, type, body } = answer
      const fault = answerFault({ status: status ?? 0, type: type ?? undefined, text: body })
      return (fault ?? !EXPECTED.includes(status ?? 0)) && `${path}: ${status} ${body.slice(0, 200)}`
    }),
    verdict('no process of the service ends by itself', [...ends, ''], (reason) => reason),
    {
      invariant: 'nothing personal, no key and no secret is in Temporal’s files or in a log',
      count: search.files,
      broken: search.leaks,
    },
  ]
}

/** A run in which nothing went wrong proves nothing. */
export function checkVacuity({ faults, calls, requests, workflows, leads, search }: Evidence): Verdict[] {
  const tries = leads.flatMap(({ milestones }) => milestones.map((sent) => sent.tries))
  const happened: [string, number][] = [
    ...faultKinds.map((kind): [string, number] => [`fault: ${kind}`, hitsOf(faults, kind)]),
    ['requests of partners that were repeated', calls.filter((call) => call.try > 1).length],
    ['milestones that were sent again', tries.filter((count) => count > 1).length],
    ['webhooks that were not accepted', requests.filter(({ status }) => status !== 200).length],
    ['files in which the search finds a workflow', search.found],
    [
      'runs of workflows that continued as new',
      workflows.filter(({ status }) => status === 'CONTINUED_AS_NEW').length,
    ],
  ]
  return [
    verdict(
      'every kind of fault has hit something, and was noticed',
      happened,
      ([what, count]) => count === 0 && what,
    ),
  ]
}

const hitsOf = (faults: Evidence['faults'], kind: FaultKind) =>
  faults.filter((fault) => fault.kind === kind && fault.hits > 0).length
