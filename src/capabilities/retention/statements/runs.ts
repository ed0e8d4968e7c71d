import { setTimeout as delay } from 'node:timers/promises'
import { sql as raw } from 'kysely'
import type { Retained } from '../../../core/database/retained.ts'
import type { Fence } from '../../../core/database/locks/alone.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { requireSameClock } from './same-clock.ts'
import { DAY_MS, MINUTE_MS } from '../../../core/values/durations.ts'

/** After each batch, at least; live traffic goes first. */
const PAUSE_MS = 100
/** How often a class is looked at: nobody waits for most of them. */
const EVERY_MS = DAY_MS
/** A run that ended further ahead than this was noted by a clock that was ahead: no run would be due until then. */
const SKEW_MS = 5 * MINUTE_MS

interface RunOptions<Settings> {
  sql: Sql
  config: Settings
  /** The clock of this process, in milliseconds since the epoch. */
  now?: () => number
  signal?: AbortSignal
  /** Rejects once another process removes the same. */
  fence?: Fence
  /** Called after each batch. */
  onRemoved?: (name: string, removed: number) => void
}

/** Those of the classes that are on and have not run for as long as they may wait. */
export async function dueAmong<Settings>(
  sql: Sql,
  retained: readonly Retained<Settings>[],
  config: Settings,
): Promise<Retained<Settings>[]> {
  const rows = await sql
    .selectFrom('retention_runs')
    .select(['class', raw<number>`(1000 * extract(epoch from now() - ran_at))::float8`.as('ageMs')])
    .where('ran_at', 'is not', null)
    .execute()
  const ages = new Map(rows.map((row) => [row.class, row.ageMs]))
  const isDue = (ageMs: number, everyMs: number) => ageMs >= everyMs || ageMs < -SKEW_MS
  return retained.filter(
    ({ name, days, everyMs = EVERY_MS }) =>
      days(config) !== null && isDue(ages.get(name) ?? Infinity, everyMs),
  )
}

/**
 * Removes what is old of a class, in small batches with a pause as long as each took. Interrupted, it goes on where it was.
 *
 * @returns how many rows it removed; `undefined` if the class is off.
 * @throws {RetentionHeld} before a batch that should not be removed without a person.
 */
export async function runRetention<Settings>(
  { sql, config, now = Date.now, signal, fence, onRemoved }: RunOptions<Settings>,
  { name, days, remove }: Retained<Settings>,
): Promise<number | undefined> {
  const limit = days(config)
  if (limit === null) return undefined
  let total = 0
  for (;;) {
    const began = performance.now()
    await requireSameClock(sql, now)
    await fence?.(sql)
    const { removed, isLast } = await remove(sql, limit, config)
    total += removed
    onRemoved?.(name, removed)
    if (isLast) await noteRun(sql, name, total)
    if (isLast || signal?.aborted) return total
    await delay(Math.max(PAUSE_MS, performance.now() - began), undefined, { signal }).catch(() => {})
  }
}

async function noteRun(sql: Sql, name: string, removed: number): Promise<void> {
  const ran = { ran_at: raw<Date>`clock_timestamp()`, removed }
  await sql
    .insertInto('retention_runs')
    .values({ class: name, ...ran })
    .onConflict((conflict) => conflict.column('class').doUpdateSet(ran))
    .execute()
}

/** What each class has come to, and what a run would remove now. */
export async function retentionDryRun<Settings>(
  sql: Sql,
  retained: readonly Retained<Settings>[],
  config: Settings,
) {
  const runs = new Map(
    (await sql.selectFrom('retention_runs').select(['class', 'ran_at', 'removed']).execute()).map((row) => [
      row.class,
      row,
    ]),
  )
  return Promise.all(
    retained.map(async ({ name, days, count }) => {
      const limit = days(config)
      const counted = limit === null ? undefined : await count(sql, limit)
      const { ran_at: ranAt = null, removed = 0 } = runs.get(name) ?? {}
      return { class: name, days: limit, ...counted, ran_at: ranAt, removed }
    }),
  )
}
