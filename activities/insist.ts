import { setTimeout as delay } from 'node:timers/promises'

const LIMIT_MS = 4_000
const PAUSE_MS = 250

/**
 * Runs `write` until it succeeds, for as long as an attempt's lease may last after its request: the answer of
 * an endpoint is not asked for twice because PostgreSQL was away for a moment.
 */
export async function insist<Result>(write: () => Promise<Result>, limitMs = LIMIT_MS): Promise<Result> {
  const end = Date.now() + limitMs
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (Date.now() >= end) throw error
      await delay(PAUSE_MS)
    }
  }
}
