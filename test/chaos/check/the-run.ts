import type { Evidence } from '../evidence.ts'
import { faultKinds } from '../fault-plan.ts'
import { type Verdict, verdict } from './verdict.ts'

/** Nothing is given away, nothing ends by itself; and a run in which nothing went wrong proves nothing. */
export function checkRun({ faults, calls, requests, workflows, leads, ends, search }: Evidence): Verdict[] {
  const tries = leads.flatMap(({ milestones }) => milestones.map((sent) => sent.tries))
  const kinds = faultKinds.filter((kind) => faults.some((fault) => fault.kind === kind))
  const happened: [string, number][] = [
    ...kinds.map((kind): [string, number] => [
      `fault: ${kind}`,
      faults.filter((fault) => fault.kind === kind && fault.hits > 0).length,
    ]),
    ['requests of partners that were repeated', calls.filter((call) => call.try > 1).length],
    ['milestones that were sent again', tries.filter((count) => count > 1).length],
    ['webhooks that were not accepted', requests.filter(({ status }) => status !== 200).length],
    ['files in which the search finds a workflow', search.found],
    ['runs that continued as new', workflows.filter(({ status }) => status === 'CONTINUED_AS_NEW').length],
  ]
  return [
    verdict('no process of the service ends by itself', [...ends, ''], (reason) => reason),
    {
      invariant: 'nothing personal, no key and no secret is in Temporal’s files or in a log',
      count: search.files,
      broken: search.leaks,
    },
    verdict('every kind of fault has hit something, and was noticed', happened, ([what, count]) => {
      return count === 0 && what
    }),
  ]
}
