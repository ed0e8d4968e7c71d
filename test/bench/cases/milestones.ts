import { setTimeout as delay } from 'node:timers/promises'
import { signalledMilestones } from '../../../src/leads/milestones.ts'
import type { Bench } from '../load/load.ts'
import { percentile } from '../numbers.ts'
import type { Row } from '../rows.ts'
import { describeStalls } from '../stalls.ts'
import { type Side, type Sides, startSides } from './milestone-sides.ts'

const LEADS = 150
const SAMPLES = 60
const PER_SECOND = 25
const SECONDS = 6
const ROUNDS = 3
/** Long and many, so that one stall does not decide. What starts their workflows warms up. */
const FLAT_OUT_ROUNDS = 5
const FLAT_OUT = 5 * LEADS
const JOURNEYS = 30
const EBB_MS = 700

/** From the signal to the webhook's arrival, against from the signal to an activity that does nothing. */
export async function milestones({ servers }: Bench): Promise<Row[]> {
  const sides = await startSides(servers)
  const { floor, service } = sides
  await Promise.all([floor.begin(LEADS), service.begin(LEADS)])
  const rows: Row[] = [...(await unloaded(sides)), ...(await paced(sides))]
  rows.push(...(await flatOut(sides, servers.isDevelopmentServer)))
  // a signature is good for five minutes
  sides.verify()
  rows.push({
    work: `a whole journey, CPU of ${whoseTime(servers.isDevelopmentServer)}`,
    unit: 'ms',
    ...(await inTurn(sides, (side) => cpuMs(side, journeys))),
  })
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
    { work: 'milestone → webhook, unloaded, p50', unit: 'ms', ...of(0.5), aim: { ratioTo: 1.35 } },
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
    { work: `milestone → webhook at ${PER_SECOND}/s, p95`, unit: 'ms', ...of(0.95), aim: { to: 30 } },
  ]
}

/** As many as it can, and what a start and a milestone cost: processor time scatters less than the rate. */
async function flatOut(sides: Sides, withTemporal: boolean): Promise<Row[]> {
  const stalls: string[] = []
  const round = async (side: Side) => {
    // so few milestones each that no history becomes long
    const workflows: number[] = []
    const start = await cpuMs(side, async () => workflows.push(...(await side.begin(LEADS))))
    const before = await side.stalls()
    let perSecond = 0
    const milestone = await cpuMs(side, async () => {
      perSecond = await inFlight(side, workflows, FLAT_OUT)
      return FLAT_OUT
    })
    stalls.push(describeStalls(before, await side.stalls()))
    return { perSecond, milestone, start }
  }
  const rounds = await inTurn(sides, round, FLAT_OUT_ROUNDS)
  const of = (what: keyof Awaited<ReturnType<typeof round>>) => ({
    floor: rounds.floor.map((each) => each[what]),
    service: rounds.service.map((each) => each[what]),
  })
  const whose = whoseTime(withTemporal)
  return [
    {
      work: 'milestones flat out',
      unit: '/s',
      ...of('perSecond'),
      aim: { ratioFrom: 0.6 },
      note: `${FLAT_OUT} a round, ${LEADS} at a time, each webhook verified; floor, service, floor …: ${stalls.join('; ')}`,
    },
    {
      work: `a milestone, CPU of ${whose}`,
      unit: 'ms',
      ...of('milestone'),
      ...(withTemporal && { aim: { ratioTo: 1.5 } }),
    },
    { work: `a start, CPU of ${whose}`, unit: 'ms', ...of('start') },
  ]
}

/** A server that was given is not ours to look into. */
const whoseTime = (withTemporal: boolean) =>
  withTemporal ? 'Temporal, worker and PostgreSQL' : 'worker and PostgreSQL'

/** Some leads from their start to mortgage_ready, one milestone after the other. */
async function journeys(side: Side): Promise<number> {
  const workflows = await side.begin(JOURNEYS)
  for (const milestone of signalledMilestones) {
    await Promise.all(
      workflows.map(async (workflow) => {
        const called = side.calls(milestone) ? side.called(workflow) : undefined
        await side.signal(workflow, milestone)
        await called
      }),
    )
  }
  return workflows.length
}

async function cpuMs(side: Side, work: (side: Side) => Promise<number>): Promise<number> {
  const before = side.cpuSeconds()
  const count = await work(side)
  // what is done after the last call is part of it
  await delay(EBB_MS)
  return ((side.cpuSeconds() - before) * 1000) / count
}

async function inTurn<Result>(
  { floor, service }: Sides,
  measure: (side: Side) => Promise<Result>,
  rounds = ROUNDS,
): Promise<{ floor: Result[]; service: Result[] }> {
  const results = { floor: [] as Result[], service: [] as Result[] }
  for (let round = 0; round < rounds; round++) {
    results.floor.push(await measure(floor))
    results.service.push(await measure(service))
  }
  return results
}

export async function timed(side: Side, workflow: number, date = performance.now()): Promise<number> {
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

/** One milestone of each workflow, all at once: how many a second. */
export async function allAtOnce(side: Side, workflows: readonly number[]): Promise<number> {
  const start = performance.now()
  await Promise.all(workflows.map((workflow) => timed(side, workflow)))
  return (workflows.length * 1000) / (performance.now() - start)
}

/** So many in all, the next of a workflow when the one before has led to its call: how many a second. */
async function inFlight(side: Side, workflows: readonly number[], count: number): Promise<number> {
  const start = performance.now()
  let begun = 0
  await Promise.all(
    workflows.map(async (workflow) => {
      while (begun < count) {
        begun += 1
        await timed(side, workflow)
      }
    }),
  )
  return (count * 1000) / (performance.now() - start)
}
