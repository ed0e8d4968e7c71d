import { setTimeout as delay } from 'node:timers/promises'

const LIMIT_MS = 5000
const PAUSE_MS = 50

/** What `look` finds, within a few seconds: what a workflow does is in the record. */
export async function soon<Found>(
  look: () => Promise<Found | undefined>,
  limitMs = LIMIT_MS,
): Promise<Found | undefined> {
  const end = Date.now() + limitMs
  for (;;) {
    const found = await look()
    if (found !== undefined || Date.now() >= end) return found
    await delay(PAUSE_MS)
  }
}
