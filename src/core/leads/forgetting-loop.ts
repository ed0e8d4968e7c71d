import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { WatchLoop } from '../../metrics/loops.ts'
import type { Sql } from '../database/orm.ts'
import { forgetMailedAddresses } from './statements/mailed-addresses.ts'
import { MINUTE_MS } from '../values/durations.ts'

const INTERVAL_MS = 5 * MINUTE_MS
/** Mails in five minutes are fewer. */
const MOST_FORGOTTEN = 50_000

interface Options {
  sql: Sql
  log: Logger
  signal: AbortSignal
  watchLoop?: WatchLoop
}

/**
 * Forgets every five minutes which addresses were mailed a day ago, until `signal` aborts. It is no class of retention, which
 * staff set in days: for a day the addresses are counted, and no longer.
 */
export async function keepForgetting({ sql, log, signal, watchLoop }: Options): Promise<void> {
  const turned = watchLoop?.('forgetting')
  while (!signal.aborted) {
    await forgetMailedAddresses(sql, MOST_FORGOTTEN).then(
      () => turned?.(INTERVAL_MS),
      (error: unknown) =>
        log.warn(
          { err: error },
          'cannot forget which addresses were mailed a day ago; trying again in five minutes',
        ),
    )
    await delay(INTERVAL_MS, undefined, { signal }).catch(() => undefined)
  }
}
