const MAX_IN_FLIGHT = 8

/** Does `work` for each item, a few at a time, until all are done or `signal` aborts. */
export async function forEachInFlight<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
  signal?: AbortSignal,
): Promise<void> {
  const waiting = items[Symbol.iterator]()
  const workOn = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      if (signal?.aborted) return
      await work(next.value)
    }
  }
  await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, workOn))
}
