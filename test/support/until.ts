import { setTimeout as delay } from 'node:timers/promises'

/** Above what Temporal takes to notice that a worker is gone: the 20 s of an attempt and 5 s until the next. */
const LIMIT_MS = 40_000
const PAUSE_MS = 20

/** What `probe` answers, as soon as it answers something: for facts of which nobody sends a notice. */
export async function until<Value>(probe: () => Promise<Value | undefined | false>): Promise<Value> {
  const end = Date.now() + LIMIT_MS
  for (;;) {
    const value = await probe()
    if (value !== undefined && value !== false) return value
    if (Date.now() > end) throw new Error(`not so after ${LIMIT_MS / 1000} s: ${probe.toString()}`)
    await delay(PAUSE_MS)
  }
}
