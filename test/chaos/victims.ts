import { setTimeout as delay } from 'node:timers/promises'
import type { Launched } from '../../src/embedded/launch.ts'
import { childrenOf, isStopped } from '../bench/cpu.ts'
import { atEnd } from '../support/at-end.ts'

/** Something that can be killed and started again. */
export interface Victim {
  kill: () => Promise<void>
  /** Resolves when it is ready; rejects if it cannot start now. */
  start: () => Promise<unknown>
  /** `undefined` while it is not there. */
  pid: () => number | undefined
}

/** A supervisor waits as long before it tries again. */
const AGAIN_MS = 500
/** Longer than everything that it needs may be away. */
const LIMIT_MS = 300_000

/** Starts it until it is there: what it needs may be away itself. */
export async function startAgain({ start }: Victim): Promise<void> {
  const end = performance.now() + LIMIT_MS
  for (;;) {
    try {
      await start()
      return
    } catch (error) {
      if (performance.now() > end) throw error
      await delay(AGAIN_MS)
    }
  }
}

/**
 * A process of the service.
 *
 * @param launch starts it, and tells of the process before it is ready.
 * @param onEnd is told why when it ends and nobody killed it.
 */
export function victimOf(
  launch: (onSpawn: (launched: Launched) => void) => Promise<Launched>,
  onEnd: (reason: string) => void,
): Victim {
  let current: Launched | undefined
  let starting: Promise<void> | undefined
  let isUp = false
  const once = async () => {
    const { pid, ended } = await launch((spawned) => (current = spawned))
    isUp = true
    void ended.then((reason) => current?.pid === pid && onEnd(reason))
  }
  // who kills it while it is being started starts it, too
  const start = async () => {
    if (isUp) return
    starting ??= once().finally(() => (starting = undefined))
    await starting
  }
  const kill = async () => {
    const victim = current
    current = undefined
    isUp = false
    victim?.kill()
    await victim?.ended
  }
  atEnd(kill)
  return { kill, start, pid: () => current?.pid }
}

/**
 * Stops a process for so long, with those that it has started, as a host that is paused.
 *
 * @returns whether it really stood still.
 */
export async function freeze({ pid }: Victim, wait: () => Promise<unknown>): Promise<boolean> {
  const frozen = pid()
  if (frozen === undefined) return false
  // first, so that it starts no more of them
  signal(frozen, 'SIGSTOP')
  const all = [frozen, ...childrenOf([frozen]).map(Number)]
  for (const each of all) signal(each, 'SIGSTOP')
  await wait()
  const stoodStill = isStopped(frozen)
  for (const each of all.toReversed()) signal(each, 'SIGCONT')
  return stoodStill
}

/** It may have ended meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // it has
  }
}
