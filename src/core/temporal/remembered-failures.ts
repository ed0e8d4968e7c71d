import type { Failed } from './in-flight.ts'

/** How long a failed item is skipped, to not delay the others. */
const REST_MS = 60_000

/** Remembers which ids failed, and reports each once until it succeeds. */
export function rememberFailures(tell: (error: unknown, id: number) => void) {
  const restUntil = new Map<number, number>()
  return {
    /** Those that failed within the last minute. */
    resting(): number[] {
      const now = performance.now()
      return [...restUntil].flatMap(([id, until]) => (until > now ? id : []))
    },
    /** @param failed those of `tried` that failed. */
    learn(tried: readonly number[], failed: readonly Failed<number>[]): void {
      const known = new Set(restUntil.keys())
      for (const id of tried) restUntil.delete(id)
      for (const { item: id, error } of failed) {
        if (!known.has(id)) tell(error, id)
        restUntil.set(id, performance.now() + REST_MS)
      }
    },
  }
}
