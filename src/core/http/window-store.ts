import type { FastifyRateLimitStore } from '@fastify/rate-limit'
import { LRUCache } from 'lru-cache'

/** The most recent partners or addresses, which are counted. */
const COUNTED = 5000

type Callback = (error: Error | null, counted?: { current: number; ttl: number }) => void

/**
 * Counts requests in windows of time. @fastify/rate-limit has a store of its own, whose windows follow the wall clock: set
 * back by an hour, they would last for that hour.
 */
export class WindowStore implements FastifyRateLimitStore {
  readonly #windows = new LRUCache<string, { current: number; endsAt: number }>({ max: COUNTED })

  incr(key: string, callback: Callback, ms: number): void {
    const window = this.#open(key) ?? { current: 0, endsAt: performance.now() + ms }
    window.current += 1
    this.#windows.set(key, window)
    callback(null, { current: window.current, ttl: window.endsAt - performance.now() })
  }

  /** What is counted so far. */
  read(key: string, callback: Callback): void {
    const window = this.#open(key)
    const left = window === undefined ? 0 : window.endsAt - performance.now()
    callback(null, { current: window?.current ?? 0, ttl: left })
  }

  child(): WindowStore {
    return new WindowStore()
  }

  #open(key: string) {
    const window = this.#windows.get(key)
    return window !== undefined && performance.now() < window.endsAt ? window : undefined
  }
}
