import { attemptLine, attemptObject } from './attempt-line.ts'
import { argumentsOf, type Terminal } from './command.ts'
import { Referrals } from '../src/index.ts'
import { type Feed, feedOf, type FeedPage, startOf, watchedFetch } from './feed.ts'
import { type Attempt, forward } from './forward.ts'
import { Lanes, Slots } from './lanes.ts'
import { Places } from './places.ts'
import { openProgress, type Progress } from './progress.ts'
import { Refusal, USAGE } from './refusal.ts'
import { receiverUrl, sandboxKeyOf } from './sandbox-key.ts'
import { stateFolder } from './state-folder.ts'

export const HELP = `prs listen --forward-to URL

Forwards the webhooks of a sandbox to a receiver on this machine, as the service would send them: the same bytes, each
lead's in order, signed with a secret that this command prints and keeps. Your endpoint gets its own as before.

  --forward-to URL   your receiver, such as http://localhost:3000/webhooks
  --from EVENT       begin with this event_id; "now" skips what there is, "beginning" forwards all of it
                     By default: where it ended the last time, and "now" the first time
  --api-key KEY      the key of a sandbox; by default $REFERRALS_KEY
  --base-url URL     the address of its API, which ends in /v1; by default $REFERRALS_URL
  --state FOLDER     where the secret and the place are kept; by default $XDG_STATE_HOME/partner-referrals,
                     or what is usual on this system
  --json             one JSON object a line
  -h, --help

A webhook that is not accepted is tried again, before the next one of its lead; other leads go on. Webhooks come at least
once: after this command was killed, some come again. A 2xx status within 15 seconds accepts a webhook.

Exit codes: 0 ended by Ctrl-C or SIGTERM, 1 the service refused, 2 the command cannot run like this.`

const OPTIONS = {
  'forward-to': { type: 'string' },
  from: { type: 'string' },
  'api-key': { type: 'string' },
  'base-url': { type: 'string' },
  state: { type: 'string' },
  json: { type: 'boolean' },
} as const

/** Requests at a time, as the service has it. */
const MOST_SENT = 10
/** How many webhooks may wait for others of their lead, in memory. */
const MOST_HELD = 5_000

/** How long requests that are under way at the end may take before a line says so. */
const PATIENCE_MS = 500
const waitingFor = (signal: AbortSignal) =>
  `Waiting for requests that are under way. ${signal.aborted ? 'Ctrl-C again' : 'Ctrl-C, twice,'} ends it at once: they come again then.`

/** Forwards the webhooks of a sandbox to a receiver on this machine. @returns the exit code. */
export async function listen(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = argumentsOf(args, OPTIONS)
  if (positionals.length > 0)
    throw new Refusal(
      `listen takes options alone, and not ${positionals[0]}: prs listen --forward-to URL.`,
      USAGE,
    )
  const key = sandboxKeyOf(values, terminal.environment)
  const how = 'prs listen --forward-to http://localhost:3000/webhooks'
  const url = receiverUrl(values['forward-to'], how)
  const progress = await openProgress(stateFolder(values.state, terminal.environment), key)
  // an error ends it, as Ctrl-C does: the reason is what comes first, which AbortSignal.any of Node 24 does not promise
  const ended = new AbortController()
  const { signal } = ended
  const end = () => ended.abort(terminal.signal.reason)
  terminal.signal.addEventListener('abort', end, { once: true })
  if (terminal.signal.aborted) end()
  try {
    let isReady = false
    const client = new Referrals({ ...key, fetch: watchedFetch((line) => isReady && terminal.note(line)) })
    const feed = feedOf(client, signal)
    const start = await placeOf(feed, progress, values.from)
    progress.write(start)
    isReady = true
    show(terminal, values.json === true, { url, progress, start })
    const print = printer(terminal, values.json === true)
    const fail = (error: unknown) => ended.abort(error)
    await follow({ feed, start, progress, url, print, signal, fail, terminal })
    // what came first: Ctrl-C after a failure does not hide it
    if (signal.reason !== terminal.signal.reason) throw signal.reason
  } catch (error) {
    if (!terminal.signal.aborted || error instanceof Refusal) throw error
  } finally {
    progress.close()
  }
  return 0
}

/** Where reading begins. A place that was stored is used as it is: if it is lost, the feed says so. */
async function placeOf(feed: Feed, progress: Progress, from: string | undefined): Promise<string | null> {
  if (from !== undefined) return startOf(feed, from)
  if (progress.cursor === undefined) return startOf(feed, 'now')
  // whether the service is there, and takes the key
  await feed.page(progress.cursor, 1)
  return progress.cursor
}

interface Following {
  feed: Feed
  start: string | null
  progress: Progress
  url: string
  print: (attempt: Attempt) => void
  signal: AbortSignal
  /** Ends it. */
  fail: (error: unknown) => void
  terminal: Terminal
}

/**
 * Forwards until the signal aborts, and lets requests end that are under way.
 *
 * @throws {Refusal} if the place cannot be stored.
 */
async function follow(following: Following): Promise<void> {
  const { feed, start, progress, url, print, signal, fail, terminal } = following
  const places = new Places(start)
  const lanes = new Lanes(MOST_HELD)
  const receiver = { url, secret: progress.secret, slots: new Slots(MOST_SENT), onAttempt: print, signal }
  const saved = () => progress.writeSoon(() => places.safe, fail)

  const take = (event: FeedPage['data'][number]) => {
    const { cursor, webhook_body } = event
    if (typeof webhook_body !== 'string') return places.pass(cursor)
    const accepted = places.open(cursor)
    const webhook = { ...event, webhook_body } as Parameters<typeof forward>[0]
    lanes.add(event.lead_id, async () => {
      if (!(await forward(webhook, receiver))) return
      accepted()
      saved()
    })
  }
  try {
    for await (const { data } of feed.pages(start)) {
      for (const event of data) {
        if (lanes.isFull) {
          terminal.note(
            `${MOST_HELD} webhooks wait to be accepted: the feed is read on once there are half as many.`,
          )
          await unlessAborted(lanes.room(), signal)
        }
        take(event)
      }
      saved()
    }
  } catch (error) {
    fail(error)
  }
  const timer = setTimeout(() => terminal.note(waitingFor(terminal.signal)), PATIENCE_MS)
  await lanes.idle()
  clearTimeout(timer)
  progress.write(places.safe)
}

async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  let onAbort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

interface Start {
  url: string
  progress: Progress
  start: string | null
}

function show({ write }: Terminal, isJson: boolean, { url, progress, start }: Start): void {
  if (isJson) {
    const { secret, file } = progress
    return write(JSON.stringify({ ready: true, secret, forward_to: url, after: start, state: file }))
  }
  write(`Ready. Signing secret: ${progress.secret}`)
  write(`Forwarding to ${url}, ${start === null ? 'from the beginning' : `after ${start}`}. Ctrl-C ends it.`)
}

const printer =
  ({ write }: Terminal, isJson: boolean) =>
  (attempt: Attempt) =>
    write(isJson ? JSON.stringify(attemptObject(attempt, new Date())) : attemptLine(attempt, new Date()))
