import { setTimeout as delay } from 'node:timers/promises'

const FIRST_MS = 300
const LONGEST_MS = 5000

/** The pause of a well-behaved client after its `number`th try: twice as long each time, up to five seconds. */
export async function pauseAfter(number: number): Promise<void> {
  await delay(Math.min(FIRST_MS * 2 ** (number - 1), LONGEST_MS))
}
