const RECENT_MS = 10 * 60_000
const MAX_KEYS = 10_000

/**
 * Hashes of the keys that were valid within the last ten minutes: they still work while invalid keys flood the API
 * from the same address. Least recently used keys are evicted beyond 10,000.
 *
 * @param now a monotonic clock, in milliseconds.
 */
export function recentKeys(now: () => number) {
  const usedAt = new Map<string, number>()
  return {
    has: (hash: string): boolean => now() - (usedAt.get(hash) ?? -Infinity) < RECENT_MS,
    add(hash: string): void {
      // a Map iterates in insertion order
      usedAt.delete(hash)
      usedAt.set(hash, now())
      const [oldest] = usedAt.keys()
      if (usedAt.size > MAX_KEYS && oldest !== undefined) usedAt.delete(oldest)
    },
    delete: (hash: string): void => void usedAt.delete(hash),
  }
}
