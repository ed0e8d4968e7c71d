import { expect } from '@jest/globals'
import { WAIT_MS } from '../../src/sandbox/advance-clock.ts'

const TIMES = 3
/** Nothing but these ten seconds makes an answer come before the end; timers may be a little early. */
const LEAST_WAIT_MS = WAIT_MS - 100

/** What an advance does otherwise when, on a busy machine, a time is over that the service gives it. */
class NotInTime extends Error {}

/** What `advance` answers, if that is over by then. */
export async function inTime<Answer>(
  advance: () => Promise<Answer>,
  statusOf: (answer: Answer) => string | undefined,
): Promise<Answer> {
  const began = performance.now()
  const answer = await advance()
  if (statusOf(answer) !== 'advancing') return answer
  expect(performance.now() - began).toBeGreaterThanOrEqual(LEAST_WAIT_MS)
  throw new NotInTime('the advance was not over in time')
}

/** A scenario whose advances have to be over in their answers: if one is not, it is told again, after `begin`. */
export const untilInTime =
  <Told>(begin: () => Promise<void>, scenario: () => Promise<Told>) =>
  async (): Promise<Told> => {
    for (let time = 1; ; time += 1) {
      try {
        return await scenario()
      } catch (error) {
        if (!(error instanceof NotInTime) || time === TIMES) throw error
        await begin()
      }
    }
  }
