import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Sql } from '../database/orm.ts'
import { keepTurning, type LoopOptions } from '../temporal/keep-turning.ts'
import { HOUR_MS, MINUTE_MS } from '../values/durations.ts'
import { hashEmails } from './statements/email-hashes.ts'

/** Processes of an older version write leads without a hash as long as a release takes. */
const INTERVAL_MS = HOUR_MS
const AGAIN_MS = MINUTE_MS
const AT_A_TIME = 200
/** After each batch; live traffic goes first. */
const PAUSE_MS = 50

interface Options extends LoopOptions {
  sql: Sql
  encryptionKeys: readonly Buffer[]
  log: Logger
}

/**
 * Gives leads of an older version the hash that staff find them by, at the start and then every hour until `signal` aborts.
 * Several workers take different ones.
 */
export async function keepHashed(options: Options): Promise<void> {
  const { sql, encryptionKeys, log, signal } = options
  const loop = {
    name: 'email_hashes',
    everyMs: INTERVAL_MS,
    againMs: AGAIN_MS,
    async turn() {
      const hashed = await hashAll(sql, encryptionKeys, signal)
      if (hashed > 0) log.info({ hashed }, 'leads can be found by their email address')
    },
    onFailure: (err: unknown) =>
      log.warn({ err }, 'cannot hash email addresses of leads; trying again every minute'),
  }
  await keepTurning(loop, options)
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
