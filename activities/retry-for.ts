import { setTimeout as delay } from 'node:timers/promises'

const PAUSE_MS = 250

/** Runs `write` until it succeeds, again and again for `limitMs`. */
export async function retryFor<Result>(write: () => Promise<Result>, limitMs: number): Promise<Result> {
  // a clock that is set meanwhile neither ends nor lengthens it
  const end = performance.now() + limitMs
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (performance.now() >= end) throw error
      await delay(PAUSE_MS)
    }
  }
}
