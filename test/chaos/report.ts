import { percentile } from '../bench/numbers.ts'
import type { Verdict } from './check/verdict.ts'
import type { Call, Evidence } from './evidence.ts'
import { type FaultKind, faultKinds, type Link, links, type Target, targets } from './fault-plan.ts'
import type { Outcome } from './run.ts'

const EXAMPLES = 3

/** What a run did and what came of it, in few lines. */
export function report({ evidence, loadMs, settledMs, left }: Outcome, verdicts: Verdict[]): string {
  const { faults, calls } = evidence
  const creates = calls.filter(({ path }) => path === 'create-lead')
  const time = `load ${seconds(loadMs)}, settled ${seconds(settledMs)} after it`
  const lines = {
    leads: leadsOf(evidence),
    'create-lead': availabilityOf(creates),
    webhooks: webhooksOf(evidence),
    workflows: `${number(new Set(evidence.workflows.map(({ workflowId }) => workflowId)).size)} in ${number(evidence.workflows.length)} runs`,
    time: left === 0 ? time : `${time}, with ${number(left)} left to do`,
  }
  return [
    ...Object.entries(lines).map(([name, line]) => `${name.padEnd(12)} ${line}`),
    '',
    ...tableOf(faults),
    '',
    ...verdicts.flatMap(linesOf),
  ].join('\n')
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
  const sent = leads.flatMap(({ milestones }) => milestones)
  const tries = sent.reduce((sum, milestone) => sum + milestone.tries, 0)
  return `${number(leads.length)} with ${number(sent.length)} milestones, sent ${number(tries)} times`
}

function webhooksOf({ requests, record }: Evidence): string {
  const accepted = requests.filter(({ status }) => status === 200)
  const again = accepted.length - new Set(accepted.map(({ id }) => id)).size
  return [
    `${number(record.deliveries.length)} in ${number(requests.length)} requests`,
    `${number(again)} sent again though accepted`,
    `longest pause ${longestPause(accepted.map(({ at }) => at))}`,
  ].join(', ')
}

/** How long partners waited from their first try until the answer. */
function availabilityOf(creates: Call[]): string {
  const requests = [...Map.groupBy(creates, ({ request }) => request).values()]
  const tookMs = requests.flatMap((tries) => {
    const answer = tries.find(({ status }) => status === 200)
    return answer === undefined ? [] : answer.at + answer.tookMs - (tries[0]?.at ?? answer.at)
  })
  const atOnce = requests.filter(([first]) => first?.status === 200).length
  return [
    `${((atOnce / requests.length) * 100).toFixed(1)} % answered at the first try`,
    `p50 ${seconds(percentile(tookMs, 0.5))}`,
    `p99 ${seconds(percentile(tookMs, 0.99))}`,
    `longest ${seconds(Math.max(...tookMs))}`,
  ].join(', ')
}

/** How often each kind of fault has hit each part. */
function tableOf(faults: Evidence['faults']): string[] {
  const times = (kind: FaultKind, on: Target | Link) =>
    faults.filter((fault) => fault.kind === kind && fault.on === on && fault.hits > 0).length
  const row = (name: string, cells: (string | number)[]) =>
    `${name.padEnd(16)}${cells.map((cell) => String(cell).padStart(9)).join('')}`
  return [
    row('', [...faultKinds]),
    ...[...targets, ...links].map((on) =>
      row(
        on,
        faultKinds.map((kind) => times(kind, on) || '–'),
      ),
    ),
  ]
}

/** The longest time without one of them. */
function longestPause(times: number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  return seconds(
    sorted.reduce((longest, time, index) => Math.max(longest, time - (sorted[index - 1] ?? time)), 0),
  )
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(ms < 1000 ? 3 : 1)} s`
const number = (value: number) => value.toLocaleString('en-US')
