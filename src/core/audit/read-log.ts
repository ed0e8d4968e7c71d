import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { AgedRead, KeyRead } from './statements/write-reads.ts'

/** How long a read waits to be written: what a crash can lose. */
const EVERY_MS = 1000
/** While PostgreSQL is away, the newest reads are kept: about 10 MB. */
const MOST_KEPT = 100_000
/** Reads in one statement, within the limit of the API's statements. */
const BATCH = 5000
/** How long a process that stops tries to write what is left. */
const CLOSE_MS = 5000
const CLOSE_PAUSE_MS = 250

interface Options {
  write: (reads: AgedRead[]) => Promise<void>
  log: Pick<Logger, 'warn' | 'error' | 'info'>
  everyMs?: number
  mostKept?: number
  closeMs?: number
}

export type NoteRead = (read: KeyRead) => void

/**
 * Notes which key got which borrower's personal data, and writes it in batches each second. A request does not wait for
 * it. Reads are written at least once: if a connection breaks during a write, its batch may be there twice.
 */
export function createReadLog({
  write,
  log,
  everyMs = EVERY_MS,
  mostKept = MOST_KEPT,
  closeMs = CLOSE_MS,
}: Options) {
  let waiting: (KeyRead & { notedAt: number })[] = []
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

  /** Writes batches until none is left, or one cannot be written, which is kept. */
  async function writeWaiting(): Promise<void> {
    reportDropped()
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH)
      try {
        const now = performance.now()
        await write(batch.map(({ notedAt, ...read }) => ({ ...read, ageMs: now - notedAt })))
      } catch (err) {
        waiting = batch.concat(waiting)
        if (!isFailing) log.warn({ err }, 'reads of personal data are not written yet: they are kept')
        isFailing = true
        return
      }
      if (isFailing) log.info('reads of personal data are written again')
      isFailing = false
    }
  }

  /** A batch more than are kept is dropped at once, since removing the first of an array moves all others. */
  function dropOldest(): void {
    if (waiting.length < mostKept + BATCH) return
    dropped += waiting.splice(0, waiting.length - mostKept).length
  }

  function reportDropped(): void {
    if (dropped > 0)
      log.error({ dropped }, 'reads of personal data are lost: PostgreSQL was away for too long')
    dropped = 0
  }

  return {
    note(read: KeyRead): void {
      waiting.push({ ...read, notedAt: performance.now() })
      dropOldest()
      plan()
    },

    /** Writes what is left, for five seconds at most; nothing may be noted after that. */
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
      dropped += waiting.length
      reportDropped()
    },
  }
}
