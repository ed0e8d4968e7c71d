import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { leadsOf } from '../erasure/statements/apply-journal.ts'
import { settleIntents } from '../erasure/statements/intents.ts'
import type { ErasureTools } from '../erasure/statements/journal.ts'
import type { Sql } from '../../core/database/orm.ts'
import { RetentionHeld } from './statements/brakes.ts'
import { dueClasses, runRetention } from './statements/runs.ts'
import { alone } from '../../core/database/alone.ts'
import type { RetentionDays } from './decisions/retention.ts'
import type { WorkerObserver } from '../../metrics/worker.ts'

/** How soon a run that was interrupted goes on. */
const INTERVAL_MS = 60_000
/** How often intents without an end are looked at: it reads the whole journal. */
const SETTLE_EVERY_MS = 60 * 60 * 1000

interface Options {
  sql: Sql
  days: RetentionDays
  mostLeadsADay: number
  tools: ErasureTools
  observe: Pick<WorkerObserver, 'retained' | 'retentionHeld' | 'unknownErasures'>
  log: Logger
  signal: AbortSignal
}

/**
 * Removes what is old, until `signal` aborts: each class once a day, keys once an hour, by one process at a time. It needs
 * no Temporal; when a class ran last is in the record. It also ends erasures of which the journal has only the intent.
 */
export async function keepRetention(options: Options): Promise<void> {
  const { sql, days, tools, observe, log, signal } = options
  let failing = false
  let settledAt = -Infinity
  while (!signal.aborted) {
    try {
      if (tools.journal !== undefined && performance.now() - settledAt > SETTLE_EVERY_MS) {
        observe.unknownErasures(leadsOf(await settleIntents(sql, tools.journal)))
        settledAt = performance.now()
      }
      const due = await dueClasses(sql, days)
      if (due.length === 0) observe.retentionHeld([])
      else await alone(sql, 'retention', () => runDue(options))
      failing = false
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'cannot remove what is old; trying again every minute')
      failing = true
    }
    await delay(INTERVAL_MS, undefined, { signal }).catch(() => undefined)
  }
}

/** Looks again, under the lock: another process may have just done it. */
async function runDue({ observe, log, ...options }: Options): Promise<number> {
  let total = 0
  const held: RetentionHeld[] = []
  const run = { ...options, onRemoved: observe.retained }
  for (const name of await dueClasses(options.sql, options.days)) {
    const removed = (await runRetention(run, name).catch(unlessHeld(held))) ?? 0
    if (removed > 0) log.info({ class: name, removed, days: options.days[name] }, 'removed what was old')
    total += removed
  }
  observe.retentionHeld(held)
  return total
}

/** The other classes go on. */
const unlessHeld = (held: RetentionHeld[]) => (error: unknown) => {
  if (!(error instanceof RetentionHeld)) throw error
  held.push(error)
}
