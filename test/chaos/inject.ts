import { setTimeout as delay } from 'node:timers/promises'
import { atEnd } from '../support/at-end.ts'
import type { Deployment } from './deployment.ts'
import type { InjectedFault } from './evidence.ts'
import { type Link, type PlannedFault, type Target, targets } from './fault-plan.ts'
import { freeze, startAgain } from './victims.ts'

/** Until everybody has noticed that a forgotten connection is dead. */
const NOTICED_MS = 25_000

type Injectable = Pick<Deployment, 'victims' | 'proxies'>

const isTarget = (on: Target | Link): on is Target => targets.some((target) => target === on)

/**
 * Carries out the plan, each fault at its time and beside those that are not over yet.
 *
 * @returns the journal, which fills; `heal`, which ends every fault and resolves once everything runs again.
 */
export function injectFaults(plan: PlannedFault[], injectable: Injectable) {
  const journal: InjectedFault[] = []
  const healing = new AbortController()
  const wait = (ms: number) => delay(ms, undefined, { signal: healing.signal }).catch(() => undefined)

  async function inject(fault: PlannedFault): Promise<void> {
    await wait(fault.atMs)
    if (healing.signal.aborted) return
    const { kind, on } = fault
    const entry: InjectedFault = { kind, on, at: performance.now(), until: Number.POSITIVE_INFINITY, hits: 0 }
    journal.push(entry)
    entry.hits = await (isTarget(on) ? hitProcess(fault, on) : hitLink(fault, on))
    entry.until = performance.now() + (fault.forgets ? NOTICED_MS : 0)
  }

  async function hitProcess({ kind, forMs }: PlannedFault, on: Target): Promise<number> {
    const victim = injectable.victims[on]
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
    const proxy = injectable.proxies[on]
    if (kind === 'reset') return proxy.reset()
    const before = proxy.noticed()
    if (kind === 'latency') proxy.slowDown(latencyMs)
    else proxy.silence()
    await wait(forMs)
    if (kind === 'latency') proxy.slowDown(0)
    else proxy.listen(forgets)
    return proxy.noticed() - before
  }

  const injected = plan.map(inject)
  const heal = async () => {
    healing.abort()
    await Promise.all(injected)
  }
  // what is frozen ends by no signal but SIGKILL, and what is being started would outlive us
  atEnd(async () => {
    healing.abort()
    await Promise.allSettled(injected)
  })
  return { journal, heal }
}
