import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { WatchLoop } from '../../metrics/loops.ts'
import type { Sql } from '../database/orm.ts'
import { HOUR_MS, MINUTE_MS } from '../values/durations.ts'
import { hashEmails } from './statements/email-hashes.ts'

/** Processes of an older version write leads without a hash as long as a release takes. */
const INTERVAL_MS = HOUR_MS
const AGAIN_MS = MINUTE_MS
const AT_A_TIME = 200
/** After each batch; live traffic goes first. */
const PAUSE_MS = 50

interface Options {
  sql: Sql
  encryptionKeys: readonly Buffer[]
  log: Logger
  signal: AbortSignal
  watchLoop?: WatchLoop
}

/**
 * Gives leads of an older version the hash that staff find them by, at the start and then every hour until `signal` aborts.
 * Several workers take different ones.
 */
export async function keepHashed(options: Options): Promise<void> {
  const { sql, encryptionKeys, log, signal, watchLoop } = options
  const turned = watchLoop?.('email_hashes')
  let failing = false
  while (!signal.aborted) {
    try {
      const hashed = await hashAll(sql, encryptionKeys, signal)
      if (hashed > 0) log.info({ hashed }, 'leads can be found by their email address')
      failing = false
      turned?.(INTERVAL_MS)
    } catch (error) {
      if (!failing)
        log.warn({ err: error }, 'cannot hash email addresses of leads; trying again every minute')
      failing = true
    }
    await delay(failing ? AGAIN_MS : INTERVAL_MS, undefined, { signal }).catch(() => undefined)
  }
}

async function hashAll(sql: Sql, encryptionKeys: readonly Buffer[], signal: AbortSignal): Promise<number> {
  let hashed = 0
  let afterId: number | undefined = 0
  while (afterId !== undefined && !signal.aborted) {
    const batch = await hashEmails(sql, encryptionKeys, { afterId, limit: AT_A_TIME })
    hashed += batch.hashed
    afterId = batch.last
    if (afterId !== undefined) await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined)
  }
  return hashed
}
