import { isDatabaseAway, isLockTimeout } from '../database/database-away.ts'
import { OtherDeployment } from './namespace-claim.ts'
import { isTemporalAway } from './temporal-away.ts'

const IN_FLIGHT = 8

export interface Failed<Item> {
  item: Item
  error: unknown
}

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
): Promise<Failed<Item>[]> {
  const waiting = items[Symbol.iterator]()
  const failed: Failed<Item>[] = []
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
