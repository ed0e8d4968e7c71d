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
export async function startAgain({ start }: Pick<Victim, 'start'>): Promise<void> {
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
 * A process of the service with the supervisor that it has in a deployment.
 *
 * @param launch starts it once, and tells of the process before it is ready.
 * @param onEnd is told why when it ends and nobody killed it.
 */
export function supervised(
  launch: (onSpawn: (launched: Launched) => void) => Promise<Launched>,
  onEnd: (reason: string) => void,
): Victim {
  let current: Launched | undefined
  let starting: Promise<void> | undefined
  let isUp = false
  let isOver = false
  const once = async () => {
    const { pid, ended } = await launch((spawned) => (current = spawned))
    isUp = true
    void ended.then((reason) => {
      if (current?.pid !== pid) return
      isUp = false
      onEnd(reason)
      void startAgain({ start })
    })
  }
  // both the supervisor and whoever killed it may start it
  const start = async () => {
    if (isUp || isOver) return
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
  atEnd(async () => {
    isOver = true
    await kill()
  })
  return { kill, start, pid: () => current?.pid }
}

/**
 * Stops a process, with those that it has started, as a host that is paused.
 *
 * @returns `thaw`, and whether it really stood still.
 */
export async function freeze({ pid }: Victim): Promise<{ isFrozen: () => boolean; thaw: () => void }> {
  const frozen = pid()
  if (frozen === undefined) return { isFrozen: () => false, thaw: () => {} }
  // first, so that it starts no more of them
  signal(frozen, 'SIGSTOP')
  const all = [frozen, ...childrenOf([frozen]).map(Number)]
  for (const each of all) signal(each, 'SIGSTOP')
  return {
    isFrozen: () => isStopped(frozen),
    thaw: () => all.toReversed().forEach((each) => signal(each, 'SIGCONT')),
  }
}

/** It may have ended meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // it has
  }
}
