import { percentile } from '../bench/table.ts'
import type { Verdict } from './check/verdict.ts'
import type { Call, Evidence } from './evidence.ts'
import { faultKinds } from './fault-plan.ts'
import type { Outcome } from './run.ts'

const EXAMPLES = 3

/** What a run did and what came of it, in few lines. */
export function report({ evidence, loadMs, settledMs, left }: Outcome, verdicts: Verdict[]): string {
  const creates = evidence.calls.filter(({ path }) => path === 'create-lead')
  const time = `load ${seconds(loadMs)}, settled ${seconds(settledMs)} after it`
  const lines = {
    leads: leadsOf(evidence),
    'create-lead': availabilityOf(creates),
    webhooks: webhooksOf(evidence),
    faults: faultsOf(evidence),
    time: left === 0 ? time : `${time}, with ${number(left)} left to do`,
  }
  const facts = Object.entries(lines).map(([name, line]) => `${name.padEnd(12)} ${line}`)
  return [...facts, '', ...verdicts.flatMap(linesOf)].join('\n')
}

function linesOf({ invariant, count, broken }: Verdict): string[] {
  const what = `${number(count).padStart(7)}  ${invariant}`
  if (broken.length === 0) return [`ok     ${what}`]
  return [
    `BROKEN ${what}: ${number(broken.length)}`,
    ...broken.slice(0, EXAMPLES).map((line) => `${' '.repeat(16)}${line}`),
  ]
}

function leadsOf({ leads }: Evidence): string {
  const tries = leads.flatMap(({ milestones }) => milestones.map((sent) => sent.tries))
  const sent = number(tries.reduce((sum, count) => sum + count, 0))
  return `${number(leads.length)} with ${number(tries.length)} milestones, sent ${sent} times`
}

function webhooksOf({ requests, record }: Evidence): string {
  const accepted = requests.flatMap(({ id, status }) => (status === 200 ? id : []))
  const again = number(accepted.length - new Set(accepted).size)
  const sent = `${number(record.deliveries.length)} in ${number(requests.length)} requests`
  return `${sent}, ${again} sent again though accepted`
}

/** How long partners waited from their first try until the answer. */
function availabilityOf(creates: Call[]): string {
  const requests = [...Map.groupBy(creates, ({ request }) => request).values()]
  const tookMs = requests.flatMap((tries) => {
    const answer = tries.find(({ status }) => status === 200)
    return answer === undefined ? [] : answer.at + answer.tookMs - (tries[0]?.at ?? answer.at)
  })
  const atOnce = requests.filter(([first]) => first?.status === 200).length
  const [p50, p99] = [percentile(tookMs, 0.5), percentile(tookMs, 0.99)]
  const share = ((atOnce / requests.length) * 100).toFixed(1)
  return `${share} % answered at the first try, p50 ${seconds(p50)}, p99 ${seconds(p99)}`
}

/** How often each kind of fault has hit something. */
function faultsOf({ faults }: Evidence): string {
  const hit = faultKinds.map((kind) => faults.filter((fault) => fault.kind === kind && fault.hits > 0))
  return hit.flatMap(([first, ...more]) => (first ? `${first.kind} ${more.length + 1}` : [])).join(', ')
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(ms < 1000 ? 3 : 1)} s`
const number = (value: number) => value.toLocaleString('en-US')
