import type { Logger } from 'pino'
import type { Sql } from '../../core/database/orm.ts'
import { writtenLater } from '../../core/database/written-later.ts'
import { type AnsweredRequest, deleteBeyond, insertRequests } from './statements/write-requests.ts'

/** While PostgreSQL is away: about 4 MB. */
const MOST_WAITING = 10_000
/** A process that stops waits no longer for them: they are worth less than reads of personal data. */
const CLOSE_MS = 1000
/** After so many requests of a partner, those beyond the most that are kept are deleted. */
const TRIM_AFTER = 1000

interface Options {
  sql: Sql
  log: Pick<Logger, 'warn' | 'error' | 'info'>
  /** Counts requests that are not listed, because they could not be written. */
  countUnlisted: (count: number) => void
}

/** Writes down which requests partners made, beside the answers. */
export function createRequestLog({ sql, log, countUnlisted }: Options) {
  /** By partner, since its requests were trimmed last. */
  const written = new Map<number, number>()

  async function write(requests: AnsweredRequest[]): Promise<void> {
    await insertRequests(sql, requests)
    for (const { partnerId } of requests) written.set(partnerId, (written.get(partnerId) ?? 0) + 1)
    for (const [partnerId, count] of written) {
      if (count < TRIM_AFTER) continue
      await deleteBeyond(sql, partnerId)
      written.delete(partnerId)
    }
  }

  return writtenLater({
    what: 'requests of partners',
    write,
    mostKept: MOST_WAITING,
    closeMs: CLOSE_MS,
    onDropped: countUnlisted,
    log,
  })
}
