import type { Failed } from './in-flight.ts'

/** What cannot be done is left alone for so long, so that it does not stand before what can. */
const REST_MS = 60_000

/** Remembers which ids failed, and tells of each once until it succeeds. */
export function rememberFailures(tell: (error: unknown, id: number) => void) {
  const restUntil = new Map<number, number>()
  return {
    /** Those that failed within the last minute. */
    resting(): number[] {
      const now = performance.now()
      return [...restUntil].flatMap(([id, until]) => (until > now ? id : []))
    },
    /** @param tried those that were tried; `failed` of them did not succeed. */
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
