import { answerFault } from '../../support/answer-fault.ts'
import type { Call, Evidence, InjectedFault } from '../evidence.ts'
import { type Verdict, verdict } from './verdict.ts'

/** What works without Temporal. */
const ALONE = ['create-lead', 'get-lead', 'get-events', 'list-events']
/** Until the API has connections again. */
const RECOVERY_MS = 5000

export function checkAnswers({ calls, faults }: Evidence): Verdict[] {
  const answers = calls.filter(({ status }) => status !== null)
  const outages = faults.filter(({ on }) => /temporal/.test(on))
  const others = faults.filter(({ on }) => on.startsWith('api ') || /postgres/.test(on))
  const isAlone = (call: Call) => ALONE.includes(call.path) && outages.some((fault) => isWithin(call, fault))
  const hasNoOther = (call: Call) => !others.some((fault) => touches(call, fault))
  const alone = calls.filter((call) => isAlone(call) && hasNoOther(call))
  const isRestored = faults.some(({ kind }) => kind === 'restore')
  // a lost lead, and a cursor of what is lost
  const lost = (path: string) => (path === 'list-events' ? 400 : 404)
  const isExpected = ({ path, status }: Call) =>
    status === 200 || status === 503 || (isRestored && status === lost(path))
  return [
    verdict('every answer of the API is one of the specification, and no 5xx but 503', answers, (answer) => {
      const { path, status, type, body } = answer
      const fault = answerFault({ status: status ?? 0, type: type ?? undefined, text: body })
      return (fault ?? !isExpected(answer)) && `${path}: ${status} ${body.slice(0, 200)}`
    }),
    verdict('create-lead and every read answer while Temporal is away', alone, ({ path, status, tookMs }) => {
      return status !== 200 && `${path}: ${status} after ${Math.round(tookMs)} ms`
    }),
  ]
}

const isWithin = ({ at, tookMs }: Call, fault: InjectedFault) => at >= fault.at && at + tookMs <= fault.until
const touches = ({ at, tookMs }: Call, fault: InjectedFault) =>
  at + tookMs >= fault.at && at <= fault.until + RECOVERY_MS
