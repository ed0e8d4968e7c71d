import { setTimeout as delay } from 'node:timers/promises'
import { atEnd } from '../support/at-end.ts'
import { deployBadBuild, restorePostgres, type Stage, stepClocks } from './acts.ts'
import type { InjectedFault } from './evidence.ts'
import { type Link, type PlannedFault, type Target, targets } from './fault-plan.ts'
import { freeze, startAgain } from './victims.ts'

const isTarget = (on: Target | Link): on is Target => targets.some((target) => target === on)

/**
 * Carries out the plan: random faults at their time, and planned ones at theirs or after the one before.
 *
 * @returns `acted`, which resolves after the last planned fault; `heal`, which resolves once everything runs again.
 */
export function injectFaults(plan: Record<'planned' | 'random', PlannedFault[]>, stage: Stage) {
  const began = performance.now()
  const { victims, proxies } = stage.deployment
  const healing = new AbortController()
  const wait = (ms: number) => delay(ms, undefined, { signal: healing.signal }).catch(() => undefined)

  async function inject(fault: PlannedFault): Promise<void> {
    await wait(Math.max(0, began + fault.atMs - performance.now()))
    if (healing.signal.aborted) return
    const { kind, on } = fault
    const entry: InjectedFault = { kind, on, at: performance.now(), until: Number.POSITIVE_INFINITY, hits: 0 }
    stage.faults.push(entry)
    entry.hits = await carryOut(fault)
    entry.until = performance.now()
  }

  async function carryOut({ kind, on, forMs }: PlannedFault): Promise<number> {
    if (kind === 'bad build') return deployBadBuild(stage)
    if (kind === 'restore') return restorePostgres(stage)
    if (kind === 'clock') return stepClocks(stage)
    if (isTarget(on)) {
      const victim = victims[on]
      if (kind === 'freeze') return Number(await freeze(victim, () => wait(forMs)))
      const isThere = victim.pid() !== undefined
      await victim.kill()
      await wait(forMs)
      await startAgain(victim)
      return Number(isThere)
    }
    if (kind === 'reset') return proxies[on].reset()
    proxies[on].silence()
    await wait(forMs)
    return proxies[on].listen()
  }

  const acted = plan.planned.reduce((before, fault) => before.then(() => inject(fault)), Promise.resolve())
  const injected = [acted, ...plan.random.map(inject)]
  const heal = async () => {
    healing.abort()
    await Promise.all(injected)
  }
  // what is frozen ends by no signal but SIGKILL, and what is being started would outlive us
  atEnd(async () => {
    healing.abort()
    await Promise.allSettled(injected)
  })
  return { acted, heal }
}
