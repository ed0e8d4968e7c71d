/** Numbers that a seed decides: the same in each run. */
export interface Draws {
  /** A whole number from `low` to `high`. */
  from: (low: number, high: number) => number
  oneOf: <Item>(items: readonly [Item, ...Item[]]) => Item
}

/** The draws of a place: each has draws of its own, whatever is drawn at others. */
export function drawsOf(seed: number, ...place: readonly number[]): Draws {
  let state = place.reduce((mixed, number) => mix(mixed ^ Math.imul(number + 1, 0x9e3779b1)), mix(seed))
  const next = (bound: number) => {
    state = (state + 0x6d2b79f5) >>> 0
    return Math.floor((mix(state) / 2 ** 32) * bound)
  }
  return {
    from: (low, high) => low + next(high - low + 1),
    oneOf: (items) => items[next(items.length)] ?? items[0],
  }
}

/** The final mix of MurmurHash3: 32 bits, of which each depends on all that were given. */
function mix(bits: number): number {
  let hash = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
