import type { Evidence } from '../evidence.ts'
import { faultKinds } from '../fault-plan.ts'
import { type Verdict, verdict } from './verdict.ts'

/** No secret leaks, no process ends by itself, and faults took place: a run without faults proves nothing. */
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
