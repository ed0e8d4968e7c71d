import { percentile } from '../bench/table.ts'
import type { Verdict } from './check/verdict.ts'
import type { Call } from './evidence.ts'
import { faultKinds } from './fault-plan.ts'
import type { Outcome } from './run.ts'

const EXAMPLES = 3

/** What a run did and what came of it, in few lines. */
export function report({ evidence, loadMs, settledMs, left }: Outcome, verdicts: Verdict[]): string {
  const { leads, calls, requests, record, faults } = evidence
  const sent = leads.flatMap(({ milestones }) => milestones)
  const accepted = requests.flatMap(({ id, status }) => (status === 200 ? id : []))
  const again = accepted.length - new Set(accepted).size
  const waited = waitedFor(calls.filter(({ path }) => path === 'create-lead'))
  const hits = faultKinds.map(
    (kind) => `${kind} ${faults.filter((fault) => fault.kind === kind && fault.hits > 0).length}`,
  )
  return [
    `leads        ${leads.length} with ${sent.length} milestones`,
    `create-lead  p50 ${seconds(percentile(waited, 0.5))}, p99 ${seconds(percentile(waited, 0.99))}`,
    `webhooks     ${record.deliveries.length} in ${requests.length} requests, ${again} sent again though accepted`,
    `faults       ${hits.join(', ')}`,
    `time         load ${seconds(loadMs)}, settled ${seconds(settledMs)} after it, with ${left} left to do`,
    '',
    ...verdicts.flatMap(linesOf),
  ].join('\n')
}

/** How long partners waited from their first try until the answer, in milliseconds. */
function waitedFor(creates: Call[]): number[] {
  const requests = [...Map.groupBy(creates, ({ request }) => request).values()]
  return requests.flatMap((tries) => {
    const answer = tries.find(({ status }) => status === 200)
    return answer === undefined ? [] : answer.at + answer.tookMs - (tries[0]?.at ?? answer.at)
  })
}

function linesOf({ invariant, count, broken }: Verdict): string[] {
  const what = `${String(count).padStart(7)}  ${invariant}`
  if (broken.length === 0) return [`ok     ${what}`]
  const examples = broken.slice(0, EXAMPLES).map((line) => `${' '.repeat(16)}${line}`)
  return [`BROKEN ${what}: ${broken.length}`, ...examples]
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(ms < 1000 ? 3 : 1)} s`
