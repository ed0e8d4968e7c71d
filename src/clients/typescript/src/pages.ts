/** A list that is read page by page as it is walked, `limit` being the length of a page: `for await (const lead of referrals.leads.list())`. */
export interface Pages<Item> extends AsyncIterable<Item> {
  /** All of them: of a long list, in as many calls as it has pages. */
  all: () => Promise<Item[]>
}

interface Page<Item, Cursor> {
  data: readonly Item[]
  next: Cursor | null
}

export function eachOf<Item, Cursor>(
  read: (after: Cursor | null) => Promise<Page<Item, Cursor>>,
): Pages<Item> {
  const walk = async function* () {
    for (let after: Cursor | null = null; ;) {
      const { data, next } = await read(after)
      yield* data
      if (next === null) return
      after = next
    }
  }
  const all = async () => {
    const items: Item[] = []
    for await (const item of walk()) items.push(item)
    return items
  }
  return { [Symbol.asyncIterator]: walk, all }
}
