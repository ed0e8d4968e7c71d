import { ApiError, CursorLostError, NoAnswerError, type FeedEvent, type Referrals } from '../src/index.ts'
import { isWorthRepeating, waitOf } from '../src/retries.ts'
import { pause } from '../src/transport.ts'
import { FAILED, Refusal, USAGE } from './refusal.ts'

export interface FeedPage {
  data: readonly FeedEvent[]
  next: string
  has_more: boolean
}

const LIMIT = 100
const WAIT_SECONDS = 25
/** How long the first answer may take. */
const FIRST_MS = 5_000
/** For one page with its attempts; then it is asked for again. */
const DEADLINE_MS = 60_000

/** Reads the feed of a sandbox with its webhooks. */
export function feedOf(client: Referrals, signal: AbortSignal) {
  const read = (request: { after: string | null; wait?: number; limit?: number }, deadlineMs: number) =>
    client.listEvents({ limit: LIMIT, ...request, webhooks: true }, { signal, deadlineMs })
  return {
    /** One page, now. A service that is away is an error: nothing has begun yet. */
    page: (after: string | null, limit = LIMIT) =>
      read({ after, limit }, FIRST_MS).catch((error: unknown) => {
        throw signal.aborted ? error : refusalOf(error)
      }),

    /** Pages without an end, through outages of the service. */
    async *pages(start: string | null): AsyncGenerator<FeedPage, never> {
      let after = start
      for (;;) {
        const page: FeedPage = await untilAnswered(
          () => read({ after, wait: WAIT_SECONDS }, DEADLINE_MS),
          signal,
        )
        yield page
        after = page.next
      }
    },
  }
}

export type Feed = ReturnType<typeof feedOf>

async function untilAnswered<Answer>(read: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read()
    } catch (error) {
      if (signal.aborted) throw error
      const answer = error instanceof ApiError ? error : undefined
      const isAway = answer === undefined ? error instanceof NoAnswerError : isWorthRepeating(answer, true)
      if (!isAway || error instanceof CursorLostError) throw refusalOf(error)
      await pause(waitOf(attempt, answer, Math.random()), signal)
    }
  }
}

/** The global fetch, which says when the service goes away, and when it is back. */
export function watchedFetch(note: (line: string) => unknown): typeof fetch {
  let isAway = false
  const tell = (isAwayNow: boolean, line: string) => {
    if (isAway !== isAwayNow) note(line)
    isAway = isAwayNow
  }
  return async (input, init) => {
    try {
      const response = await fetch(input, init)
      if (response.status < 500) tell(false, 'The service answers again.')
      else tell(true, `The service answers with status ${response.status}: trying until it works again.`)
      return response
    } catch (error) {
      const isAsked = init?.signal?.aborted === true && !isTimeout(init.signal.reason)
      if (!isAsked) tell(true, 'The service does not answer: trying until it does.')
      throw error
    }
  }
}

const isTimeout = (reason: unknown) => reason instanceof Error && reason.name === 'TimeoutError'

/** What to do about an error of the service. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof CursorLostError)
    return new Refusal(
      `The service does not know the place any more where this command ended: its database was restored, or the sandbox was started anew. Go on with --from ${error.cursor}, where webhooks may come that you have, or with --from now.`,
      FAILED,
      { cause: error },
    )
  if (error instanceof NoAnswerError)
    return new Refusal(`${error.message}. Is the sandbox running, and --base-url its address?`, FAILED, {
      cause: error,
    })
  if (!(error instanceof ApiError)) throw error
  const quote = error.requestId === undefined ? '' : ` (request ${error.requestId})`
  const remedy =
    error.code === 'AUTH_FAILED' ? ' Is it a key of this sandbox, and not revoked? Set REFERRALS_KEY.' : ''
  return new Refusal(`The service refused: ${error.message}${remedy}${quote}`, FAILED, { cause: error })
}

/** The beginning of the feed. */
const BEGINNING = null

/**
 * Where reading begins.
 *
 * @param from `now`, `beginning`, an event's id, which is the first to come, or the cursor to go on after.
 */
export async function startOf(feed: Feed, from: string): Promise<string | null> {
  if (from === 'beginning') return BEGINNING
  if (from === 'now') return (await feed.page('now', 1)).next
  if (!from.startsWith('evt_')) {
    if (!/^\d{1,10}-\d{1,20}-\d{1,10}-\d{1,10}$/.test(from))
      throw new Refusal(`--from takes an event_id, now or beginning, and not ${from}.`, USAGE)
    await feed.page(from, 1)
    return from
  }
  let after: string | null = BEGINNING
  for (;;) {
    const page: FeedPage = await feed.page(after)
    for (const { event_id, cursor } of page.data) {
      if (event_id === from) return after
      after = cursor
    }
    if (!page.has_more)
      throw new Refusal(
        `${from} is no event of this sandbox and this key’s partner: take an event_id of list-events or of a webhook.`,
        USAGE,
      )
  }
}
