import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import type { Logger } from 'pino'
import type { Sql } from '../db/orm.ts'
import { RECONCILE_LOCK, sweepAlone } from '../db/sweep-lock.ts'
import { reconcile, restartEnded } from './reconcile.ts'
import type { Referrals } from '../temporal/referrals.ts'

const MINUTE_MS = 60_000
const INTERVAL_MS = 5 * MINUTE_MS
/** Two intervals, so that the restart of a worker leaves no gap. */
const LOOK_BACK_MS = 2 * INTERVAL_MS
const FULL_EVERY_MS = 24 * 60 * MINUTE_MS

interface Options {
  client: Client
  sql: Sql
  referrals: Referrals
  log: Logger
  signal: AbortSignal
}

/**
 * Restarts missing workflows until `signal` aborts: every five minutes those that ended recently; at the start and once
 * a day, it compares all open leads with the running workflows. One process at a time.
 */
export async function keepReconciled(options: Options): Promise<void> {
  const { sql, log, signal } = options
  let fullAt = 0
  while (!signal.aborted) {
    const isFull = Date.now() >= fullAt
    try {
      const repaired = await sweepAlone(sql, () => repair(options, isFull), RECONCILE_LOCK)
      if (repaired > 0) log.warn({ repaired }, 'started leads’ workflows again from the record')
      if (isFull) fullAt = Date.now() + FULL_EVERY_MS
    } catch (error) {
      log.warn({ err: error }, 'cannot compare the workflows with the record; trying again in five minutes')
    }
    await delay(INTERVAL_MS, undefined, { signal }).catch(() => undefined)
  }
}

async function repair({ log, ...options }: Options, isFull: boolean): Promise<number> {
  const onFailure = (err: unknown, leadId: number) =>
    log.error({ err, lead_id: leadId }, 'cannot bring a lead’s workflow to what the record says')
  const dependencies = { ...options, onFailure }
  if (!isFull) return (await restartEnded(dependencies, Date.now() - LOOK_BACK_MS)).length
  const { started } = await reconcile(dependencies)
  return started.length
}
