import { LRUCache } from 'lru-cache'
import { MINUTE_MS } from '../values/durations.ts'

const RECENT_MS = 10 * MINUTE_MS
const MAX_KEYS = 10_000

/**
 * Hashes of the keys that were valid within the last ten minutes: they still work while invalid keys flood the API
 * from the same address.
 *
 * @param perf a monotonic clock.
 */
export const recentKeys = (perf: { now: () => number } = performance) =>
  new LRUCache<string, true>({ max: MAX_KEYS, ttl: RECENT_MS, ttlResolution: 0, perf })
