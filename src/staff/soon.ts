import { setTimeout as delay } from 'node:timers/promises'

const PAUSE_MS = 50

/** Polls `look` until it finds something: what a workflow did is in PostgreSQL a moment later. */
export async function soon<Found>(
  look: () => Promise<Found | undefined>,
  limitMs = 5000,
): Promise<Found | undefined> {
  const end = Date.now() + limitMs
  for (;;) {
    const found = await look()
    if (found !== undefined || Date.now() >= end) return found
    await delay(PAUSE_MS)
  }
}
