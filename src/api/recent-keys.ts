const RECENT_MS = 10 * 60_000
const MAX_KEYS = 10_000

/**
 * The keys that were good within the last ten minutes, by their hashes: as long as that, a flood of refused keys
 * does not stop them. Only good keys take up space; beyond 10,000 the one that was used longest ago is forgotten.
 *
 * @param now milliseconds that only grow.
 */
export function recentKeys(now: () => number) {
  const usedAt = new Map<string, number>()
  return {
    has: (hash: string): boolean => now() - (usedAt.get(hash) ?? -Infinity) < RECENT_MS,
    add(hash: string): void {
      // a Map keeps the order of insertion
      usedAt.delete(hash)
      usedAt.set(hash, now())
      const [oldest] = usedAt.keys()
      if (usedAt.size > MAX_KEYS && oldest !== undefined) usedAt.delete(oldest)
    },
    delete: (hash: string): void => void usedAt.delete(hash),
  }
}
