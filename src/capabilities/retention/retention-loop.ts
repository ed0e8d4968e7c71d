import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { alone, type Fence } from '../../core/database/locks/alone.ts'
import { LeaseLost } from '../../core/database/locks/leases.ts'
import type { Sql } from '../../core/database/orm.ts'
import { type Retained, RetentionHeld } from '../../core/database/retained.ts'
import { keepTurning, type LoopOptions } from '../../core/temporal/keep-turning.ts'
import { createRetentionMetrics } from './metrics.ts'
import { dueAmong, runRetention } from './statements/runs.ts'
import { MINUTE_MS } from '../../core/values/durations.ts'

/** How soon a run that was interrupted continues. */
const INTERVAL_MS = MINUTE_MS

interface Failures {
  /** Why the last run of a class failed, by its name: told once while it lasts. */
  causes: Map<string, unknown>
  tell: (fields: { err: unknown; class?: string }) => void
}

interface Options<Settings> extends LoopOptions {
  sql: Sql
  config: Settings
  retained: readonly Retained<Settings>[]
  registry: Registry
  log: Logger
}

/**
 * Removes what is old, until `signal` aborts: each class once a day, keys once an hour, by one process at a time. It needs
 * no Temporal; when a class ran last is in the record.
 */
export async function keepRetention<Settings>(options: Options<Settings>): Promise<void> {
  const { sql, config, retained, registry, log } = options
  const names = retained.map(({ name }) => name)
  const metrics = createRetentionMetrics(registry, log, names)
  const failures: Failures = {
    causes: new Map(),
    tell: (fields) => log.warn(fields, 'cannot remove what is old; trying again every minute'),
  }
  const loop = {
    name: 'retention',
    everyMs: INTERVAL_MS,
    async turn(goesOn: () => void) {
      const due = await dueAmong(sql, retained, config)
      if (due.length === 0) metrics.held([])
      else await alone(sql, 'retention', (fence) => runDue({ ...options, goesOn }, metrics, failures, fence))
    },
    onFailure: (err: unknown) => {
      if (![...failures.causes.values()].includes(err)) failures.tell({ err })
    },
  }
  await keepTurning(loop, options)
}

/** Looks again, with the lease: another process may have just done it. */
async function runDue<Settings>(
  { retained, log, goesOn, ...options }: Options<Settings> & { goesOn: () => void },
  metrics: ReturnType<typeof createRetentionMetrics>,
  { causes, tell }: Failures,
  fence: Fence,
): Promise<number> {
  const { sql, config } = options
  let total = 0
  const held: RetentionHeld[] = []
  const failed: unknown[] = []
  /** The other classes continue. */
  const setAside = (name: string) => (err: unknown) => {
    if (err instanceof LeaseLost) throw err
    if (err instanceof RetentionHeld) {
      held.push(err)
      return
    }
    if (!causes.has(name)) tell({ class: name, err })
    causes.set(name, err)
    failed.push(err)
  }
  const onRemoved = (name: string, removed: number) => {
    metrics.removed(name, removed)
    goesOn()
  }
  const run = { ...options, fence, onRemoved }
  for (const each of await dueAmong(sql, retained, config)) {
    const before = failed.length
    const removed = (await runRetention(run, each).catch(setAside(each.name))) ?? 0
    if (failed.length === before) causes.delete(each.name)
    if (removed > 0) log.info({ class: each.name, removed, days: each.days(config) }, 'removed what was old')
    total += removed
  }
  metrics.held(held)
  if (failed.length > 0) throw failed[0]
  return total
}
