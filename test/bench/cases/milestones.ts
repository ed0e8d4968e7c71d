import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../load/load.ts'
import { percentile } from '../numbers.ts'
import type { Row } from '../rows.ts'
import { type Side, type Sides, startSides } from './milestone-sides.ts'

const LEADS = 150
const SAMPLES = 60
const PER_SECOND = 25
const SECONDS = 6
const ROUNDS = 3

/** From the signal to the webhook's arrival, against from the signal to an activity that does nothing. */
export async function milestones({ servers }: Bench): Promise<Row[]> {
  const sides = await startSides(servers)
  const { floor, service } = sides
  await Promise.all([floor.begin(LEADS), service.begin(LEADS)])
  const aim = { ratioFrom: servers.isDevelopmentServer ? 0.65 : 0.7 }
  const rows: Row[] = [
    ...(await unloaded(sides)),
    ...(await paced(sides)),
    {
      work: 'milestones flat out, to the last webhook',
      unit: '/s',
      ...(await inTurn(sides, flatOut)),
      aim,
      note: `${LEADS} at once, each webhook verified`,
    },
  ]
  await sides.close()
  return rows
}

async function unloaded({ floor, service }: Sides): Promise<Row[]> {
  const latencies = { floor: [] as number[], service: [] as number[] }
  for (let sample = 0; sample < SAMPLES; sample++) {
    const workflow = 1 + (sample % LEADS)
    latencies.floor.push(await timed(floor, workflow))
    latencies.service.push(await timed(service, workflow))
    await delay(20)
  }
  const of = (share: number) => ({
    floor: [percentile(latencies.floor, share)],
    service: [percentile(latencies.service, share)],
  })
  return [
    { work: 'milestone → webhook, unloaded, p50', unit: 'ms', ...of(0.5), aim: { ratioTo: 1.5 } },
    { work: 'milestone → webhook, unloaded, p95', unit: 'ms', ...of(0.95) },
  ]
}

async function paced(sides: Sides): Promise<Row[]> {
  const pace = { workflows: LEADS, perSecond: PER_SECOND, seconds: SECONDS }
  const runs = await inTurn(sides, (side) => atRate(side, pace))
  const of = (share: number) => ({
    floor: runs.floor.map((latencies) => percentile(latencies, share)),
    service: runs.service.map((latencies) => percentile(latencies, share)),
  })
  return [
    { work: `milestone → webhook at ${PER_SECOND}/s, p50`, unit: 'ms', ...of(0.5) },
    { work: `milestone → webhook at ${PER_SECOND}/s, p95`, unit: 'ms', ...of(0.95), aim: { to: 50 } },
  ]
}

async function inTurn<Result>(
  { floor, service }: Sides,
  measure: (side: Side) => Promise<Result>,
): Promise<{ floor: Result[]; service: Result[] }> {
  const results = { floor: [] as Result[], service: [] as Result[] }
  for (let round = 0; round < ROUNDS; round++) {
    results.floor.push(await measure(floor))
    results.service.push(await measure(service))
  }
  return results
}

async function timed(side: Side, workflow: number, date = performance.now()): Promise<number> {
  const called = side.called(workflow)
  await side.signal(workflow)
  await called
  return performance.now() - date
}

/** Each on its date, whatever became of those before it; its latency counts from its date. */
export async function atRate(
  side: Side,
  { workflows, perSecond, seconds }: { workflows: number; perSecond: number; seconds: number },
): Promise<number[]> {
  const start = performance.now()
  const running: Promise<number>[] = []
  for (let sent = 0; sent < perSecond * seconds; sent++) {
    const date = start + (sent * 1000) / perSecond
    await delay(Math.max(0, date - performance.now()))
    running.push(timed(side, 1 + (sent % workflows), date))
  }
  return Promise.all(running)
}

/** One milestone of each lead, all at once. */
async function flatOut(side: Side): Promise<number> {
  const start = performance.now()
  await Promise.all(Array.from({ length: LEADS }, (_, index) => timed(side, index + 1)))
  return (LEADS * 1000) / (performance.now() - start)
}
