import { randomInt } from 'node:crypto'
import { freePort } from '../../src/embedded/launch.ts'

/** A free port. Two files, or two runs, that look for one at once would find the same next one free. */
export async function anyPort(): Promise<number> {
  return freePort(randomInt(20_000, 30_000))
}
