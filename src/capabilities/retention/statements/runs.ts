import { setTimeout as delay } from 'node:timers/promises'
import { sql as raw } from 'kysely'
import type { Retained } from '../../../core/database/retained.ts'
import type { Sql } from '../../../core/database/sql.ts'
import { requireSameClock } from './same-clock.ts'

/** After each batch, at least; live traffic goes first. */
const PAUSE_MS = 100

interface RunOptions<Settings> {
  sql: Sql
  config: Settings
  /** The clock of this process, in milliseconds since the epoch. */
  now?: () => number
  signal?: AbortSignal
  /** Called after each batch. */
  onRemoved?: (name: string, removed: number) => void
}

/**
 * Removes what is old of a class, in small batches with a pause as long as each took. Interrupted, it goes on where it was.
 *
 * @returns how many rows it removed; `undefined` if the class is off.
 * @throws {RetentionHeld} before a batch that should not be removed without a person.
 */
export async function runRetention<Settings>(
  { sql, config, now = Date.now, signal, onRemoved }: RunOptions<Settings>,
  { name, days, remove }: Retained<Settings>,
): Promise<number | undefined> {
  const limit = days(config)
  if (limit === null) return undefined
  let total = 0
  for (;;) {
    const began = performance.now()
    await requireSameClock(sql, now)
    const { removed, isLast } = await remove(sql, limit, config)
    total += removed
    onRemoved?.(name, removed)
    if (isLast) await noteRun(sql, name, total)
    if (isLast || signal?.aborted) return total
    await delay(Math.max(PAUSE_MS, performance.now() - began), undefined, { signal }).catch(() => {})
  }
}

/** What removes each class. */
export function removalsOf<Settings>(
  given: Pick<RunOptions<Settings>, 'sql' | 'config'>,
  retained: readonly Retained<Settings>[],
) {
  return retained.map((each) => ({
    name: each.name,
    remove: (run: Pick<RunOptions<Settings>, 'signal' | 'onRemoved'>) =>
      runRetention({ ...given, ...run }, each),
  }))
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
