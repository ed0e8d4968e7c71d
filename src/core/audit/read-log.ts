import type { Logger } from 'pino'
import { writtenLater } from '../database/written-later.ts'
import type { AgedRead, KeyRead } from './statements/write-reads.ts'

/** While PostgreSQL is away: about 10 MB. */
const MOST_KEPT = 100_000

interface Options {
  write: (reads: AgedRead[]) => Promise<void>
  log: Pick<Logger, 'warn' | 'error' | 'info'>
  everyMs?: number
  mostKept?: number
  closeMs?: number
}

export type NoteRead = (read: KeyRead) => void

/** Notes which key got which borrower's personal data. */
export function createReadLog({ write, mostKept = MOST_KEPT, ...options }: Options) {
  const reads = writtenLater<KeyRead & { notedAt: number }>({
    ...options,
    what: 'reads of personal data',
    mostKept,
    write: (batch) => {
      const now = performance.now()
      return write(batch.map(({ notedAt, ...read }) => ({ ...read, ageMs: now - notedAt })))
    },
  })
  return {
    note: (read: KeyRead) => reads.add({ ...read, notedAt: performance.now() }),
    close: () => reads.close(),
  }
}
