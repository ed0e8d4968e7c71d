import type { Logger } from 'pino'
import type { Sql } from '../../core/database/orm.ts'
import { writtenLater } from '../../core/database/written-later.ts'
import { type AnsweredRequest, deleteBeyond, insertRequests } from './statements/write-requests.ts'

/** While PostgreSQL is away: about 4 MB. */
const MOST_WAITING = 10_000
/**
 * Of one partner in a second and process: ten times what a partner may send in production. Whoever sends more, in a load
 * test for example, would pay for rows that are beyond the most that are kept within seconds.
 */
const MOST_A_SECOND = 100
const SECOND_MS = 1000
/** A process that stops waits no longer for them: they are worth less than reads of personal data. */
const CLOSE_MS = 1000
/** After so many requests of a partner, those beyond the most that are kept are deleted. */
const TRIM_AFTER = 1000

interface Options {
  sql: Sql
  log: Pick<Logger, 'warn' | 'error' | 'info'>
  /** Counts requests that are not listed: too many in a second, or they could not be written. */
  countUnlisted: (count: number) => void
  mostASecond?: number
}

/** Writes down which requests partners made, beside the answers. */
export function createRequestLog({ sql, log, countUnlisted, mostASecond = MOST_A_SECOND }: Options) {
  const hasRoom = perSecond(mostASecond)
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

  const later = writtenLater({
    what: 'requests of partners',
    write,
    mostKept: MOST_WAITING,
    closeMs: CLOSE_MS,
    onDropped: countUnlisted,
    log,
  })

  return {
    /** @param request is called only if there is room. */
    add(partnerId: number, request: () => AnsweredRequest): void {
      if (hasRoom(partnerId)) later.add(request())
      else countUnlisted(1)
    },
    close: () => later.close(),
  }
}

/** Whether there is room for one more of a partner in this second. */
function perSecond(most: number): (partnerId: number) => boolean {
  const counts = new Map<number, number>()
  let ends = 0
  return (partnerId) => {
    const now = performance.now()
    if (now >= ends) {
      counts.clear()
      ends = now + SECOND_MS
    }
    const count = (counts.get(partnerId) ?? 0) + 1
    counts.set(partnerId, count)
    return count <= most
  }
}
