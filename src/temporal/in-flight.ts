import { setTimeout as delay } from 'node:timers/promises'
import { isDatabaseAway, isLockTimeout } from '../database/errors.ts'
import { isTemporalAway } from './away.ts'
import { OtherDeployment } from './namespace-guard.ts'

const IN_FLIGHT = 8

/**
 * Does `work` for each item, a few at a time, until all are done or `signal` aborts. A failure doesn't stop the others.
 *
 * @returns the items that failed.
 * @throws the outage error, if an item fails because a server is unreachable and no other item succeeded meanwhile.
 * The rest would only wait for the same server.
 */
export async function forEachInFlight<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
  { signal, limit = IN_FLIGHT }: { signal?: AbortSignal; limit?: number } = {},
): Promise<{ item: Item; error: unknown }[]> {
  const waiting = items[Symbol.iterator]()
  const failed: { item: Item; error: unknown }[] = []
  const outages: unknown[] = []
  let done = 0

  async function attempt(item: Item): Promise<void> {
    const before = done
    try {
      await work(item)
      done += 1
    } catch (error) {
      if (isAway(error) && done === before) outages.push(error)
      else failed.push({ item, error })
    }
  }
  const workOn = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      if (signal?.aborted || outages.length > 0) return
      await attempt(next.value)
    }
  }
  await Promise.all(Array.from({ length: limit }, workOn))
  if (outages.length > 0) throw outages[0]
  return failed
}

/** A namespace that is another deployment's fails for all items; a locked row fails for one. */
function isAway(error: unknown): boolean {
  return (
    error instanceof OtherDeployment ||
    isTemporalAway(error) ||
    (isDatabaseAway(error) && !isLockTimeout(error))
  )
}

/** Runs `work` once at a time for each key. Calls that come meanwhile share the next run. Different keys run concurrently. */
export function sharingRuns<Result>(work: (key: number) => Promise<Result>) {
  const latest = new Map<number, Promise<Result>>()
  /** Keys whose latest run has not begun. */
  const waiting = new Set<number>()
  return async (key: number): Promise<Result> => {
    const before = latest.get(key)
    if (before !== undefined && waiting.has(key)) return before
    const begin = () => {
      waiting.delete(key)
      return work(key)
    }
    waiting.add(key)
    const run = Promise.resolve(before).then(begin, begin)
    latest.set(key, run)
    try {
      return await run
    } finally {
      if (latest.get(key) === run) latest.delete(key)
    }
  }
}

interface Loop {
  everyMs: number
  turn: () => Promise<unknown>
  /** Is told of the first of several failures in a row. */
  onFailure: (error: unknown) => void
}

/** Takes turns until `signal` aborts, the first one at once. */
export async function keepTurning(loop: Loop, { signal }: { signal: AbortSignal }): Promise<void> {
  const { everyMs, turn, onFailure } = loop
  let isFailing = false
  while (!signal.aborted) {
    try {
      await turn()
      isFailing = false
    } catch (error) {
      if (!isFailing) onFailure(error)
      isFailing = true
    }
    await delay(everyMs, undefined, { signal }).catch(() => undefined)
  }
}
