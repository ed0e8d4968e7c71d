import { until } from './until.ts'

/** Asks, and asks again while the service is too busy, as its clients do: what it answered in the end. */
export const whileBusy = <Answer extends { status: number }>(ask: () => Promise<Answer>): Promise<Answer> =>
  until(async () => {
    const answer = await ask()
    return answer.status !== 503 && answer
  })
