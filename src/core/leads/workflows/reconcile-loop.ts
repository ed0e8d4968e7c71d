import type { Client } from '@temporalio/client'
import type { Logger } from 'pino'
import type { Sql } from '../../database/orm.ts'
import { alone } from '../../database/locks/alone.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../values/durations.ts'
import { keepTurning, type LoopOptions } from '../../temporal/keep-turning.ts'
import { reconcile, refreshOverdue, restartEnded } from './reconcile.ts'
import { referralId } from '../../temporal/names.ts'
import type { Referrals } from './referrals.ts'

const INTERVAL_MS = 5 * MINUTE_MS
/** Two intervals, so that the restart of a worker leaves no gap. */
const LOOK_BACK_MS = 2 * INTERVAL_MS
const FULL_EVERY_MS = DAY_MS
/** When some leads failed, or another process was at it. */
const FULL_AGAIN_MS = HOUR_MS

interface Options extends LoopOptions {
  client: Client
  sql: Sql
  referrals: Referrals
  log: Logger
}

/**
 * Restarts missing workflows until `signal` aborts: every five minutes those that ended recently, and tells those whose
 * webhook is overdue; at the start and once a day, it compares all open leads with the running workflows. One process at a
 * time.
 */
export async function keepReconciled(options: Options): Promise<void> {
  const { sql, log } = options
  let fullAt = 0
  const loop = {
    name: 'comparison',
    everyMs: INTERVAL_MS,
    async turn() {
      const isFull = Date.now() >= fullAt
      let isDone = false
      const repaired = await alone(sql, 'comparison', async () => {
        const result = await repair(options, isFull)
        isDone = result.failed === 0
        return result.repaired
      })
      if (repaired > 0) log.warn({ repaired }, 'brought leads’ workflows to what the record says')
      if (isFull) fullAt = Date.now() + (isDone ? FULL_EVERY_MS : FULL_AGAIN_MS)
    },
    onFailure: (err: unknown) =>
      log.warn({ err }, 'cannot compare the workflows with the record; trying again every five minutes'),
  }
  await keepTurning(loop, options)
}

interface Repair {
  /** Workflows that were started, or told to read the record again. */
  repaired: number
  /** Leads for which that failed. */
  failed: number
}

async function repair({ log, ...options }: Options, isFull: boolean): Promise<Repair> {
  let failed = 0
  const onFailure = (err: unknown, leadId: number) => {
    failed += 1
    const facts = { err, lead_id: leadId, workflow_id: referralId(leadId) }
    log.error(facts, 'cannot bring a lead’s workflow to what the record says')
  }
  const dependencies = { ...options, onFailure }
  const compared = isFull ? await reconcile(dependencies) : undefined
  const started = compared?.started ?? (await restartEnded(dependencies, Date.now() - LOOK_BACK_MS))
  const overdue = await refreshOverdue(dependencies)
  return { repaired: started.length + overdue.length, failed }
}
