import { type FeedPosition, placesWithNews } from '../statements/event-feed.ts'
import type { Sql } from '../../database/sql.ts'

const LOOK_MS = 500
/** Of one key, at a time. */
export const MOST_WAITS = 2

interface Waiter {
  partnerId: number
  after: FeedPosition
  wake: () => void
}

/** Waits for news in partners' feeds: one query every half second for all who wait, and none while nobody does. */
export function createFeedWatch(sql: Sql) {
  const waiters = new Set<Waiter>()
  const waitsOfKey = new Map<number, number>()
  let looking: NodeJS.Timeout | undefined
  let closed = false

  async function look(): Promise<void> {
    const asked = [...waiters]
    // waiting requests ask again, and get an error there
    const found = await placesWithNews(sql, asked).catch(() => asked.map((_, index) => index))
    for (const index of found) asked[index]?.wake()
    looking = waiters.size > 0 ? setTimeout(() => void look(), LOOK_MS) : undefined
  }

  return {
    /** Whether another wait of this key is possible. */
    hasRoom: (keyId: number): boolean => (waitsOfKey.get(keyId) ?? 0) < MOST_WAITS,

    /** Resolves when there is news after a place, after `ms`, when `gone` aborts, or when the process stops. */
    async wait(keyId: number, place: Omit<Waiter, 'wake'>, ms: number, gone: AbortSignal): Promise<void> {
      if (closed || gone.aborted) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const wake = () => resolve()
      const waiter = { ...place, wake }
      const timer = setTimeout(wake, ms)
      gone.addEventListener('abort', wake, { once: true })
      waiters.add(waiter)
      waitsOfKey.set(keyId, (waitsOfKey.get(keyId) ?? 0) + 1)
      looking ??= setTimeout(() => void look(), LOOK_MS)
      try {
        await promise
      } finally {
        clearTimeout(timer)
        gone.removeEventListener('abort', wake)
        waiters.delete(waiter)
        const left = (waitsOfKey.get(keyId) ?? 1) - 1
        if (left > 0) waitsOfKey.set(keyId, left)
        else waitsOfKey.delete(keyId)
      }
    },

    /** Ends all waits. */
    close(): void {
      closed = true
      clearTimeout(looking)
      for (const { wake } of waiters) wake()
    },
  }
}
