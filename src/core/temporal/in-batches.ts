/**
 * Runs one batch of a key at a time. Items that arrive meanwhile are the next batch. Different keys run concurrently.
 */
export function inBatches<Item, Result>(work: (key: number, items: Item[]) => Promise<Result>) {
  const latest = new Map<number, Promise<Result>>()
  const gathering = new Map<number, Item[]>()
  return async (key: number, item: Item): Promise<Result> => {
    const before = latest.get(key)
    const gathered = gathering.get(key)
    if (before !== undefined && gathered !== undefined) {
      gathered.push(item)
      return before
    }
    const items = [item]
    const begin = () => {
      gathering.delete(key)
      return work(key, items)
    }
    gathering.set(key, items)
    const batch = Promise.resolve(before).then(begin, begin)
    latest.set(key, batch)
    try {
      return await batch
    } finally {
      if (latest.get(key) === batch) latest.delete(key)
    }
  }
}
