import { createHash } from 'node:crypto'

export type Random = ReturnType<typeof randomOf>

/** A generator (mulberry32) whose numbers follow from a seed and a purpose alone. */
export function randomOf(seed: number, purpose: string) {
  let state = createHash('sha256').update(`${seed} ${purpose}`).digest().readUInt32LE()

  /** From 0 to below 1. */
  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `low` to `high`. */
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  const chance = (share: number) => next() < share
  const pick = <Item>(items: readonly Item[]) => items[between(0, items.length - 1)] as Item

  function shuffled<Item>(items: readonly Item[]): Item[] {
    const keys = items.map((item) => ({ item, key: next() }))
    return keys.toSorted((a, b) => a.key - b.key).map(({ item }) => item)
  }

  return { next, between, chance, pick, shuffled }
}
