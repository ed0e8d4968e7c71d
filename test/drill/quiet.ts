import { setTimeout as delay } from 'node:timers/promises'
import { referralId } from '../../src/core/temporal/names.ts'
import { cpuSeconds } from '../bench/cpu.ts'
import { type Broken, brokenBy } from './check.ts'
import { countWaiting, runningLeads } from './facts.ts'
import type { Stack } from './stack.ts'

const PAUSE_MS = 100
/** How long it may take until nothing waits. The second attempt at a webhook comes after six seconds. */
const PATIENCE_MS = 60_000

/** Waits until no webhook and no lead waits; answers since when, or what still waits after a minute. */
export async function untilNothingWaits(stack: Stack): Promise<{ at: number; broken: Broken[] }> {
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    const waiting = await countWaiting(stack).catch(() => 1)
    if (waiting === 0) return { at: Date.now(), broken: [] }
    if (Date.now() > end) {
      const faults = Array.from({ length: waiting }, () => `${waiting} after ${PATIENCE_MS / 1000} s`)
      return { at: Date.now(), broken: brokenBy('nothing waits for ever', faults) }
    }
    await delay(PAUSE_MS)
  }
}

const WATCHED_MS = 4000
const MOST_BUSY = 0.25
const SAMPLE = 25
/** History events a minute of a lead to which nothing happens. */
const MOST_GROWTH = 3

/** Whether anything works although nothing happens: processor time of the worker, and lengths of histories. */
export async function findHotLoops(stack: Stack): Promise<Broken[]> {
  const { client } = stack.service
  const ids = [...(await runningLeads(stack))].toReversed().slice(0, SAMPLE)
  const lengths = async () => {
    const described = ids.map((id) => client.workflow.getHandle(referralId(id)).describe())
    return (await Promise.all(described)).map(({ historyLength }) => historyLength)
  }
  const before = await lengths()
  const { pid } = stack.running.worker
  const started = { cpu: cpuSeconds([pid]), at: performance.now() }
  await delay(WATCHED_MS)
  const seconds = (performance.now() - started.at) / 1000
  const busy = (cpuSeconds([pid]) - started.cpu) / seconds
  const after = await lengths()
  const growing = ids.flatMap((id, index) => {
    const perMinute = (((after[index] ?? 0) - (before[index] ?? 0)) * 60) / seconds
    return perMinute > MOST_GROWTH ? `lead ${id}: ${perMinute.toFixed(0)} events a minute` : []
  })
  return [
    ...brokenBy('histories do not grow while nothing happens', growing),
    ...brokenBy(
      'the worker is idle while nothing happens',
      busy > MOST_BUSY ? [`${Math.round(busy * 100)} % of a core`] : [],
    ),
  ]
}
