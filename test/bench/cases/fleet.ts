import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../load/load.ts'
import type { Row } from '../rows.ts'
import type { BenchProcess, Started } from '../servers.ts'
import { type Sides, startSides } from './milestone-sides.ts'
import { atRate } from './milestones.ts'

const LEADS = 150
const PER_SECOND = 25
const SECONDS = 8
const IDLE_MS = 5000
const EBB_MS = 700
const ROUNDS = 3
const FLEETS = [2, 4]

interface Cost {
  /** Of a milestone, in milliseconds of processor time, without what the processes use anyway. */
  milestone: number
  /** Of a second without work, in milliseconds. */
  idle: number
}

/** What more workers than one cost in processor time, on all sides: the floor is one worker. */
export async function fleet({ servers }: Bench): Promise<Row[]> {
  const sides = await startSides(servers)
  const costs = new Map<number, Cost[]>([1, ...FLEETS].map((workers) => [workers, []]))
  for (let round = 0; round < ROUNDS; round++) {
    const started: BenchProcess[] = []
    for (const [workers, measured] of costs) {
      while (started.length < workers - 1) started.push(await sides.deployment.startWorker())
      // a worker that has just started takes a fifth more for a milestone, until its code is compiled: as many for each
      for (let begun = 0; begun < workers; begun++) await costOf(sides, servers, started)
      measured.push(await costOf(sides, servers, started))
      // a signature is good for five minutes
      sides.verify()
    }
    await Promise.all(started.map((worker) => worker.stop()))
  }
  const of = (workers: number, what: keyof Cost) => (costs.get(workers) ?? []).map((cost) => cost[what])
  const rows = FLEETS.flatMap((workers): Row[] => [
    {
      work: `a milestone at ${PER_SECOND}/s, CPU with ${workers} workers`,
      unit: 'ms',
      floor: of(1, 'milestone'),
      service: of(workers, 'milestone'),
      aim: { ratioTo: 1.1 },
      note: 'Temporal, workers and PostgreSQL; floor: one worker',
    },
    {
      work: `a second without work, CPU with ${workers} workers`,
      unit: 'ms',
      floor: of(1, 'idle'),
      service: of(workers, 'idle'),
    },
  ])
  await sides.close()
  return rows
}

/** Of new leads, which are divided among the workers that there are. */
async function costOf(
  { service }: Sides,
  servers: Started,
  others: readonly { pid: number }[],
): Promise<Cost> {
  const used = () => service.cpuSeconds() + servers.cpuSecondsOf(others.map(({ pid }) => pid))
  const leads = await service.begin(LEADS)
  await delay(EBB_MS)
  const idle = await during(used, () => delay(IDLE_MS))
  const idlePerMs = idle.ms / idle.lasted
  const work = await during(used, async () => {
    await atRate(
      {
        ...service,
        signal: (index) => service.signal(leadOf(leads, index)),
        called: (index) => service.called(leadOf(leads, index)),
      },
      { workflows: LEADS, perSecond: PER_SECOND, seconds: SECONDS },
    )
    // what is done after the last webhook is part of it
    await delay(EBB_MS)
  })
  return {
    milestone: (work.ms - idlePerMs * work.lasted) / (PER_SECOND * SECONDS),
    idle: idlePerMs * 1000,
  }
}

const leadOf = (leads: readonly number[], index: number) => leads[index - 1] ?? Number.NaN

async function during(used: () => number, work: () => Promise<unknown>) {
  const before = used()
  const start = performance.now()
  await work()
  return { ms: (used() - before) * 1000, lasted: performance.now() - start }
}
