import { setTimeout as delay } from 'node:timers/promises'
import { SCORE_PERIOD_MS } from '../../../src/leads/score-dates.ts'
import type { Bench } from '../load/load.ts'
import { percentile } from '../numbers.ts'
import type { Row } from '../rows.ts'
import { addCrowd } from './crowd.ts'
import { timed } from './milestones.ts'
import { type Sides, startSides } from './milestone-sides.ts'

/** Of a bulk import, whose score updates are due at the same time. */
const LEADS = Number(process.env.BURST_LEADS ?? 2000)
/** To start so many workflows, which wait for that time. */
const STARTING_MS = 20_000 + LEADS * 60
/** Of another partner, which hardly notices. */
const OTHERS = 60
/** Of the worker: a setting to try, as in `BURST_WORKER='{"WORKER_WORKFLOW_TASKS":"4"}'`. */
const settings = JSON.parse(process.env.BURST_WORKER ?? '{}') as Record<string, string>
const MILESTONES_PER_SECOND = 5
const CALLS_PER_SECOND = 20
const CALM_MS = 20_000

interface Seen {
  milestones: number[]
  calls: number[]
}

/**
 * A worker starts and finds thousands of score updates due. How fast it makes them, and what another partner’s new
 * milestones and calls notice of it: the floor is a worker that starts and finds nothing due.
 */
export async function burst({ servers }: Bench): Promise<Row[]> {
  const sides = await startSides(servers)
  const api = await sides.deployment.startApi()
  const others = await sides.service.begin(OTHERS)
  const crowd = await addCrowd(sides, LEADS)
  await sides.stopWorker()
  await sides.startWorker(settings)
  const calm = await observed(sides, { others, port: api.port }, delay(CALM_MS))
  const dueAt = Date.now() + STARTING_MS
  const anchor = new Date(dueAt - SCORE_PERIOD_MS)
  await crowd.begin({ anchor_at: anchor, onboarding_sent_at: anchor })
  if (Date.now() > dueAt) throw new Error('the workflows were not started in time')
  await sides.stopWorker()
  await delay(Math.max(0, dueAt - Date.now()))
  const updated = crowd.nextWebhook()
  const worker = await sides.startWorker(settings)
  const before = servers.cpuSecondsWithTemporal(worker.pid)
  const began = performance.now()
  const busy = await observed(sides, { others, port: api.port }, updated)
  const seconds = (performance.now() - began) / 1000
  const cpuMs = (servers.cpuSecondsWithTemporal(worker.pid) - before) * 1000
  await api.stop()
  await sides.close()
  const of = (what: keyof Seen, share: number) => ({
    unit: 'ms',
    floor: [percentile(calm[what], share)],
    service: [percentile(busy[what], share)],
  })
  const note = `floor: none due; service: ${LEADS} of another partner`
  const milestone = `milestone → webhook at ${MILESTONES_PER_SECOND}/s, beside a burst`
  const call = `get-lead at ${CALLS_PER_SECOND}/s, beside a burst`
  return [
    {
      work: 'score updates due at once, to the last webhook',
      unit: '/s',
      floor: [],
      service: [LEADS / seconds],
      note: `${LEADS}, which one worker finds when it starts`,
    },
    {
      work: 'a score update of a burst, CPU',
      unit: 'ms',
      floor: [],
      service: [cpuMs / LEADS],
      note: 'Temporal, worker and PostgreSQL; with the other partner’s milestones',
    },
    { work: `${milestone}, p50`, ...of('milestones', 0.5) },
    { work: `${milestone}, p95`, ...of('milestones', 0.95), aim: { ratioTo: 2 }, note },
    { work: `${call}, p50`, ...of('calls', 0.5) },
    { work: `${call}, p95`, ...of('calls', 0.95), aim: { ratioTo: 2 }, note },
  ]
}

/** Milestones and calls at a steady rate, until `over`. */
async function observed(
  { service, deployment: { headers } }: Sides,
  { others, port }: { others: readonly number[]; port: number },
  over: Promise<void>,
): Promise<Seen> {
  const lead = (index: number) => others[index % others.length] ?? Number.NaN
  const call = async (index: number, date: number) => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/get-lead`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ lead_id: lead(index) }),
    })
    if (!response.ok) throw new Error(`get-lead answered ${response.status}`)
    await response.arrayBuffer()
    return performance.now() - date
  }
  const [milestones, calls] = await Promise.all([
    steadily(MILESTONES_PER_SECOND, over, (index, date) => timed(service, lead(index), date)),
    steadily(CALLS_PER_SECOND, over, call),
  ])
  return { milestones, calls }
}

/** Each on its date, from which its latency counts. */
async function steadily(
  perSecond: number,
  over: Promise<void>,
  work: (index: number, date: number) => Promise<number>,
): Promise<number[]> {
  const state = { isOver: false }
  void over.then(() => (state.isOver = true))
  const start = performance.now()
  const running: Promise<number>[] = []
  while (!state.isOver) {
    const date = start + (running.length * 1000) / perSecond
    await delay(Math.max(0, date - performance.now()))
    running.push(work(running.length, date))
  }
  return Promise.all(running)
}
