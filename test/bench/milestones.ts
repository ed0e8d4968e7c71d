import { setTimeout as delay } from 'node:timers/promises'
import { signalledMilestones } from '../../src/leads/milestones.ts'
import { type Side, startSides } from './sides.ts'
import { figures, inTurn, type Pair, percentile, type Row } from './table.ts'

const LEADS = 150
const SAMPLES = 60
const PER_SECOND = 25
const SECONDS = 6
const ROUNDS = 3
/** Many long rounds, so that one stall does not decide. Starting their workflows is the warm-up. */
const FLAT_OUT_ROUNDS = 5
const FLAT_OUT = 5 * LEADS
const JOURNEYS = 30
const EBB_MS = 700

/** Workflows of a side that run. */
type Begun = readonly [Side, number[]]

/** The time from a signal to the webhook's arrival; the floor is from a signal to an activity that does nothing. */
export async function milestones(): Promise<Row[]> {
  const sides = await startSides()
  const { floor, service } = sides
  const begun: Pair<Begun> = {
    floor: [floor, await floor.begin(LEADS)],
    service: [service, await service.begin(LEADS)],
  }
  const rows = [...(await unloaded(begun)), ...(await paced(begun)), ...(await flatOut(sides))]
  const journey = await inTurn(sides, ROUNDS, (side) => cpuMs(side, () => journeys(side)))
  await sides.verify()
  return [...rows, { work: `a whole journey, ${CPU}`, unit: 'ms', ...journey }]
}

const CPU = 'CPU of Temporal, worker and PostgreSQL'

async function unloaded(begun: Pair<Begun>): Promise<Row[]> {
  const { floor, service } = await inTurn(begun, SAMPLES, async ([side, workflows], round) => {
    await delay(10)
    return timed(side, workflows[round] ?? 0)
  })
  const p50 = { floor: [percentile(floor, 0.5)], service: [percentile(service, 0.5)] }
  return [{ work: 'milestone → webhook, unloaded, p50', unit: 'ms', ...p50, aim: { to: 1.4 } }]
}

async function paced(begun: Pair<Begun>): Promise<Row[]> {
  const runs = await inTurn(begun, ROUNDS, ([side, workflows]) =>
    atRate(side, workflows, { perSecond: PER_SECOND, seconds: SECONDS }),
  )
  const of = (share: number) => figures(runs, (latencies) => percentile(latencies, share))
  return [
    { work: `milestone → webhook at ${PER_SECOND}/s, p50`, unit: 'ms', ...of(0.5) },
    { work: `milestone → webhook at ${PER_SECOND}/s, p95`, unit: 'ms', ...of(0.95), aim: { to: 1.3 } },
  ]
}

/** As many as it can, and what a start and a milestone cost: processor time scatters less than the rate. */
async function flatOut(sides: Pair<Side>): Promise<Row[]> {
  const rounds = await inTurn(sides, FLAT_OUT_ROUNDS, async (side) => {
    // so few milestones each that no history becomes long
    let workflows: number[] = []
    const start = await cpuMs(side, async () => (workflows = await side.begin(LEADS)).length)
    let perSecond = 0
    const milestone = await cpuMs(side, async () => {
      perSecond = await inFlight(side, workflows, FLAT_OUT)
      return FLAT_OUT
    })
    return { perSecond, milestone, start }
  })
  const of = (what: 'perSecond' | 'milestone' | 'start') => figures(rounds, (round) => round[what])
  return [
    { work: 'milestones flat out', unit: '/s', ...of('perSecond'), aim: { from: 0.75 } },
    { work: `a milestone, ${CPU}`, unit: 'ms', ...of('milestone'), aim: { to: 1.35 } },
    { work: `a start, ${CPU}`, unit: 'ms', ...of('start') },
  ]
}

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

/** Of each of the things that `work` says it did. */
async function cpuMs(side: Side, work: () => Promise<number>): Promise<number> {
  const before = side.cpuSeconds()
  const count = await work()
  // what is done after the last call is part of it
  await delay(EBB_MS)
  return ((side.cpuSeconds() - before) * 1000) / count
}

/** From the signal, or its date, to the call, in milliseconds. */
export async function timed(side: Side, workflow: number, date = performance.now()): Promise<number> {
  const called = side.called(workflow)
  await side.signal(workflow)
  await called
  return performance.now() - date
}

/** Each on its date, whatever became of those before it; its latency counts from its date. Ends early once it `isOver`. */
export async function atRate(
  side: Side,
  workflows: readonly number[],
  { perSecond, seconds, isOver }: { perSecond: number; seconds: number; isOver?: () => boolean },
): Promise<number[]> {
  const start = performance.now()
  const running: Promise<number>[] = []
  for (let sent = 0; sent < perSecond * seconds; sent++) {
    if (isOver?.()) break
    const date = start + (sent * 1000) / perSecond
    await delay(Math.max(0, date - performance.now()))
    running.push(timed(side, workflows[sent % workflows.length] ?? 0, date))
  }
  return Promise.all(running)
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
