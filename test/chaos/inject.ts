import { setTimeout as delay } from 'node:timers/promises'
import { atEnd } from '../support/at-end.ts'
import { deployBadBuild, restorePostgres, type Stage, stepClocks } from './acts.ts'
import type { InjectedFault } from './evidence.ts'
import { type Link, type PlannedFault, type Target, targets } from './fault-plan.ts'
import { freeze, startAgain } from './victims.ts'

/** Until everybody has noticed that a forgotten connection is dead. */
const NOTICED_MS = 25_000

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
    entry.hits = await carryOut(fault, entry)
    entry.until = performance.now() + (fault.forgets ? NOTICED_MS : 0)
  }

  function carryOut(fault: PlannedFault, entry: InjectedFault): Promise<number> {
    if (fault.kind === 'bad build') return deployBadBuild(stage)
    if (fault.kind === 'restore') return restorePostgres(stage, entry)
    if (fault.kind === 'clock') return stepClocks(stage)
    return isTarget(fault.on) ? hitProcess(fault, fault.on) : hitLink(fault, fault.on)
  }

  async function hitProcess({ kind, forMs }: PlannedFault, on: Target): Promise<number> {
    const victim = victims[on]
    const isThere = victim.pid() !== undefined
    if (kind === 'kill') {
      await victim.kill()
      await wait(forMs)
      await startAgain(victim)
      return isThere ? 1 : 0
    }
    const { isFrozen, thaw } = await freeze(victim)
    await wait(forMs)
    const hits = isFrozen() ? 1 : 0
    thaw()
    return hits
  }

  async function hitLink({ kind, forMs, latencyMs, forgets }: PlannedFault, on: Link): Promise<number> {
    const proxy = proxies[on]
    if (kind === 'reset') return proxy.reset()
    const before = proxy.noticed()
    if (kind === 'latency') proxy.slowDown(latencyMs)
    else proxy.silence()
    await wait(forMs)
    if (kind === 'latency') proxy.slowDown(0)
    else proxy.listen(forgets)
    return proxy.noticed() - before
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
