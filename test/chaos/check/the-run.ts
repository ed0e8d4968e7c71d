import type { Evidence } from '../evidence.ts'
import { faultKinds } from '../fault-plan.ts'
import { type Verdict, verdict } from './verdict.ts'

/** Nothing is given away, nothing ends by itself; and a run in which nothing went wrong proves nothing. */
export function checkRun({ faults, ends, search }: Evidence): Verdict[] {
  const kinds = faultKinds.filter((kind) => faults.some((fault) => fault.kind === kind))
  const hasHit = (kind: string) => faults.some((fault) => fault.kind === kind && fault.hits > 0)
  return [
    verdict('no process of the service ends by itself', [...ends, ''], (reason) => reason),
    {
      invariant: 'nothing personal, no key and no secret is in Temporal’s files or in a log',
      count: search.files,
      broken: search.leaks,
    },
    verdict('every kind of fault has hit something', kinds, (kind) => !hasHit(kind) && kind),
  ]
}
