import { setTimeout as delay } from 'node:timers/promises'

/** Above what Temporal takes to notice that a worker is gone: the 20 s of an attempt and 5 s until the next. */
const LIMIT_MS = 40_000
const SHORTEST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 200

/** Polls `probe` until it answers something, and answers that. */
export async function until<Value>(probe: () => Promise<Value | undefined | false>): Promise<Value> {
  const began = Date.now()
  for (;;) {
    const value = await probe()
    if (value !== undefined && value !== false) return value
    const waited = Date.now() - began
    if (waited > LIMIT_MS) throw new Error(`not so after ${LIMIT_MS / 1000} s: ${probe.toString()}`)
    // what is long in coming is asked for less often: the probes take processor time from what they wait for
    await delay(Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, waited / 5)))
  }
}
