import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'

/** How long an item waits to be written: what a crash can lose. */
const EVERY_MS = 1000
/** Items in one statement, within the limit of the API's statements. */
const BATCH = 5000
/** How long a process that stops tries to write what is left. */
const CLOSE_MS = 5000
const CLOSE_PAUSE_MS = 250

interface Options<Item> {
  /** What is written, in words for the log. */
  what: string
  write: (items: Item[]) => Promise<void>
  /** While PostgreSQL is away, the newest so many are kept. */
  mostKept: number
  log: Pick<Logger, 'warn' | 'error' | 'info'>
  /** Counts items that are never written. */
  onDropped?: ((count: number) => void) | undefined
  everyMs?: number | undefined
  closeMs?: number | undefined
}

/**
 * Writes items in batches each second, beside the requests that they tell of: no request waits for it. They are written at
 * least once: if a connection breaks during a write, its batch may be there twice.
 */
export function writtenLater<Item>({
  what,
  write,
  mostKept,
  log,
  onDropped,
  everyMs = EVERY_MS,
  closeMs = CLOSE_MS,
}: Options<Item>) {
  let waiting: Item[] = []
  let writing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isFailing = false
  let dropped = 0

  function plan(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      writing ??= writeWaiting().finally(() => {
        writing = undefined
        if (waiting.length > 0) plan()
      })
    }, everyMs).unref()
  }

  /**
   * Writes what waits in batches, unless one cannot be written, which is kept. What comes meanwhile waits for the next time:
   * else the few that came during each statement would get one of their own.
   */
  async function writeWaiting(): Promise<void> {
    reportDropped()
    for (let left = waiting.length; left > 0; left -= BATCH) {
      const batch = waiting.splice(0, Math.min(left, BATCH))
      try {
        await write(batch)
      } catch (err) {
        waiting = batch.concat(waiting)
        if (!isFailing) log.warn({ err }, `${what} are not written yet: they are kept`)
        isFailing = true
        return
      }
      if (isFailing) log.info(`${what} are written again`)
      isFailing = false
    }
  }

  /** A batch more than are kept is dropped at once, since removing the first of an array moves all others. */
  function dropOldest(): void {
    if (waiting.length < mostKept + BATCH) return
    drop(waiting.splice(0, waiting.length - mostKept).length)
  }

  function drop(count: number): void {
    dropped += count
    if (count > 0) onDropped?.(count)
  }

  function reportDropped(): void {
    if (dropped > 0) log.error({ dropped }, `${what} are lost: PostgreSQL was away for too long`)
    dropped = 0
  }

  return {
    add(item: Item): void {
      waiting.push(item)
      dropOldest()
      plan()
    },

    /** Writes what is left, for `closeMs` at most; nothing may be added after that. */
    async close(): Promise<void> {
      clearTimeout(timer)
      const end = performance.now() + closeMs
      await writing
      await writeWaiting()
      while (waiting.length > 0 && performance.now() < end) {
        await delay(CLOSE_PAUSE_MS)
        await writeWaiting()
      }
      clearTimeout(timer)
      drop(waiting.length)
      reportDropped()
    },
  }
}
