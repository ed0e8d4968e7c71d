import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { sweepAlone } from '../db/sweep-lock.ts'
import { unstartedLeads } from '../db/referral-states.ts'
import type { Sql } from '../db/orm.ts'
import type { Referrals } from './referrals.ts'

const INTERVAL_MS = 1000
/** Younger leads are being started by the API that took them. */
const MIN_AGE_MS = 1000
const PAGE = 200
const MAX_IN_FLIGHT = 8

interface SweepOptions {
  sql: Sql
  referrals: Referrals
  log: Logger
  signal: AbortSignal
}

/**
 * Starts the workflows that a crash or an absent Temporal left out: every second, by one process at a time,
 * until `signal` aborts.
 */
export async function sweep({ sql, referrals, log, signal }: SweepOptions): Promise<void> {
  let failing = false
  while (!signal.aborted) {
    try {
      const started = await sweepAlone(sql, () => startLeftOut(sql, referrals, signal))
      if (started > 0) log.info({ started }, 'started workflows that were left out')
      failing = false
    } catch (error) {
      if (!failing)
        log.warn({ err: error }, 'cannot start workflows that were left out; trying again every second')
      failing = true
    }
    await delay(INTERVAL_MS, undefined, { signal }).catch(() => undefined)
  }
}

async function startLeftOut(sql: Sql, referrals: Referrals, signal: AbortSignal): Promise<number> {
  const leadIds = await unstartedLeads(sql, MIN_AGE_MS, PAGE)
  const waiting = leadIds.values()
  const startEach = async () => {
    for (const leadId of waiting) {
      if (signal.aborted) return
      await referrals.startFromRecord(leadId)
    }
  }
  await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, startEach))
  return leadIds.length
}
