/** The result of checking one invariant. */
export interface Verdict {
  invariant: string
  /** How many things were looked at. */
  count: number
  /** What is wrong, a line each; empty when it holds. */
  broken: string[]
}

/** Looks at each item; `faultOf` says what is wrong with it, if anything. */
export function verdict<Item>(
  invariant: string,
  items: Iterable<Item>,
  faultOf: (item: Item) => string | false | undefined,
): Verdict {
  const all = [...items]
  return { invariant, count: all.length, broken: all.flatMap((item) => faultOf(item) || []) }
}
