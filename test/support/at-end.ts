import { afterAll } from '@jest/globals'

const ends: (() => Promise<unknown>)[] = []

/** Runs `end` after the last test of the file, the latest first: nothing that a file started outlives it. */
export function atEnd(end: () => Promise<unknown>): void {
  ends.push(end)
}

afterAll(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})
