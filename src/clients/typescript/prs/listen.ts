import { ApiError, CursorLostError, type FeedEvent, NoAnswerError, Referrals } from '../src/index.ts'
import { readRetryAfter, waitOf } from '../src/retries.ts'
import { signatureOf } from '../src/signatures.ts'
import { pause } from '../src/transport.ts'
import { openState, Refusal } from './state.ts'

interface Settings {
  apiKey: string
  baseUrl: string
  /** The receiver's. */
  url: string
  /** Empty for where it ended the last time. */
  from: string
  /** A folder. */
  state: string
  /** Writes a line on standard output. */
  write: (line: string) => void
  /** Aborts when the command is asked to end. */
  signal: AbortSignal
}

/** Webhooks under way, or waiting for earlier ones of their lead; with so many, the feed is not read further. */
const MOST_HELD = 200
const HELD_PAUSE_MS = 100
/** The limits of the service's first answer, of a receiver's answers, and of Retry-After. */
const FIRST_MS = 5_000
const ANSWER_MS = 15_000
const LONGEST_WAIT_S = 60

/** Forwards the webhooks of a sandbox to a receiver on this machine, until it is asked to end. */
export async function listen(settings: Settings): Promise<void> {
  const { url, write, signal } = settings
  const state = openState(settings)
  try {
    const client = new Referrals(settings)
    const start = await startOf(client, settings.from || state.cursor, signal)
    state.store(start)
    write(`Ready. Signing secret: ${state.secret}`)
    write(
      `Forwarding to ${url}, ${start === null ? 'from the beginning' : `after ${start}`}. Ctrl-C ends it.`,
    )
    await follow(client, start, state, settings)
  } catch (error) {
    if (!signal.aborted || error instanceof Refusal) throw refusalOf(error)
  } finally {
    state.close()
  }
}

/** The cursor to begin after; null is the beginning. A service that is away is an error: nothing has begun yet. */
async function startOf(client: Referrals, from: string | null, signal: AbortSignal): Promise<string | null> {
  const after = from === 'beginning' ? null : from
  if (after !== null && after !== 'now' && !/^\d{1,10}-\d{1,20}-\d{1,10}-\d{1,10}$/.test(after))
    throw new Refusal(`--from takes now, beginning or a cursor of list-events, and not ${after}.`)
  const { next } = await client.listEvents({ after, limit: 1 }, { signal, deadlineMs: FIRST_MS })
  return after === 'now' ? next : after
}

/** Forwards each lead's webhooks in order, and leads beside each other. The stored place moves only past what was accepted. */
async function follow(
  client: Referrals,
  start: string | null,
  state: ReturnType<typeof openState>,
  { url, write, signal }: Settings,
): Promise<void> {
  const lanes = new Map<number, Promise<void>>()
  /** The place before each webhook that is not accepted yet, in the order of reading. */
  const open = new Map<string, string | null>()
  let read = start
  const place = () => (open.size === 0 ? read : ([...open.values()][0] ?? null))

  const forward = async (event: FeedEvent, body: string): Promise<void> => {
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const sent = await send(url, event.event_id, body, state.secret)
      const retryMs = waitOf(attempt, sent, Math.random())
      write(lineOf(event, sent, retryMs))
      if (sent.problem === undefined) {
        open.delete(event.cursor)
        return state.storeSoon(place)
      }
      await pause(retryMs, signal).catch(() => undefined)
    }
  }
  const take = (event: FeedEvent) => {
    const { cursor, lead_id: lead, webhook_body: body } = event
    if (typeof body === 'string') {
      open.set(cursor, read)
      const turn = (lanes.get(lead) ?? Promise.resolve()).then(async () => forward(event, body))
      lanes.set(lead, turn)
      void turn.then(() => lanes.get(lead) === turn && lanes.delete(lead))
    }
    read = cursor
  }
  try {
    for (;;) {
      const page = { after: read, wait: 25, limit: 10, webhooks: true }
      const { data } = await client.listEvents(page, { signal, deadlineMs: Infinity })
      data.forEach(take)
      state.storeSoon(place)
      while (open.size >= MOST_HELD) await pause(HELD_PAUSE_MS, signal)
    }
  } finally {
    await Promise.allSettled(lanes.values())
    state.store(place())
  }
}

type Sent = Awaited<ReturnType<typeof send>>

/** Makes one attempt as the service does, signed with another secret. Every error is a result. */
async function send(url: string, id: string, body: string, secret: string) {
  const began = performance.now()
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'partner-referral-service-webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': await signatureOf({ id, timestamp, body: Buffer.from(body) }, secret),
  }
  /** Status 0 is no answer; a problem is why it was not accepted. */
  const result = (status: number, problem?: string, retryAfter?: number) => {
    const durationMs = Math.round(performance.now() - began)
    return { status, problem, retryAfter, durationMs }
  }
  try {
    const signal = AbortSignal.timeout(ANSWER_MS)
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    await response.body?.cancel()
    const { ok, status } = response
    if (ok) return result(status)
    const asked = readRetryAfter(response.headers.get('retry-after'))
    const retryAfter = asked && Math.min(asked, LONGEST_WAIT_S)
    return result(status, `your endpoint answered ${status}`, retryAfter)
  } catch (error) {
    const { name, message, cause } = error as Error
    const why = name === 'TimeoutError' ? 'within 15 s' : cause instanceof Error ? cause.message : message
    return result(0, `your endpoint did not answer: ${why}`)
  }
}

function lineOf(event: FeedEvent, { status, problem, durationMs }: Sent, retryMs = 0): string {
  const at = new Date().toISOString().slice(0, 19).replace('T', ' ')
  const of = `${event.event_name.padEnd('client_account_created'.length)}  lead ${event.lead_id}  #${event.sequence}`
  const line = `${at}  ${of}  ${status || '–'}  ${durationMs} ms`
  return problem === undefined
    ? line
    : `${line}  ${problem}. Trying again in ${(retryMs / 1000).toFixed(1)} s`
}

/** What to do about an error of the service; other errors as they are. */
function refusalOf(error: unknown): unknown {
  if (error instanceof CursorLostError)
    return new Refusal(
      `The service no longer knows the place where this command ended: its database was restored, or the sandbox was started anew. Continue with --from ${error.cursor}, after which some webhooks may come again, or with --from now.`,
      1,
    )
  if (error instanceof NoAnswerError)
    return new Refusal(`${error.message}. Is the sandbox running, and --base-url its address?`, 1)
  if (!(error instanceof ApiError)) return error
  const remedy = error.code === 'AUTH_FAILED' ? ' Is it a key of this sandbox, and not revoked?' : ''
  return new Refusal(`The service refused: ${error.message}${remedy} (request ${error.requestId})`, 1)
}
