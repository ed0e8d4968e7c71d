import type { FeedEvent } from './api.ts'
import { ApiError, CursorLostError, NoAnswerError } from './errors.ts'
import { isWorthRepeating, waitOf } from './retries.ts'
import { type CallOptions, pause, type Request, type Response } from './transport.ts'

export type FeedPage = Response<'listEvents'>

export interface FollowOptions {
  /** The `place` that you stored last; `now` skips what there is; without it, from the first event on. */
  after?: string | undefined
  /** Ends the loop, quietly: an event that was handed over is the last one. */
  signal?: AbortSignal
}

/** `place`: where to go on once this event is handled. */
export type FollowedEvent = WithPlace<FeedEvent>

type WithPlace<Event> = Event extends unknown ? Omit<Event, 'cursor'> & { place: string } : never

type ReadPage = (request: Request<'listEvents'>, options: CallOptions) => Promise<FeedPage>

const WAIT_SECONDS = 25
const LIMIT = 100

/** Reads the feed until it is stopped. What cannot pass by itself is thrown: a refused key, a lost place. */
export async function* follow(
  read: ReadPage,
  { after, signal }: FollowOptions,
): AsyncGenerator<FollowedEvent, void> {
  let place = after
  try {
    for (;;) {
      const page = await untilAnswered(
        () => read({ after: place ?? null, wait: WAIT_SECONDS, limit: LIMIT }, { ...(signal && { signal }) }),
        signal,
      )
      for (const { cursor, ...event } of page.data) {
        if (signal?.aborted) return
        yield { ...event, place: cursor }
      }
      place = page.next
    }
  } catch (error) {
    if (!signal?.aborted) throw error
  }
}

/** An outage ends some time, and the feed goes on where it was. */
async function untilAnswered<Answer>(
  ask: () => Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask()
    } catch (error) {
      if (error instanceof CursorLostError) throw error
      const answer = error instanceof ApiError ? error : undefined
      if (answer === undefined && !(error instanceof NoAnswerError)) throw error
      if (!isWorthRepeating(answer, true)) throw error
      await pause(waitOf(attempt, answer, Math.random()), signal)
    }
  }
}
