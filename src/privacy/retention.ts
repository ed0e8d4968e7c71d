import { setTimeout as delay } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import { type Retained, RetentionHeld } from '../database/retained.ts'
import type { Sql } from '../database/sql.ts'
import { MINUTE_MS } from '../values.ts'

/** How far retention has come with a class of data. */
export const RetentionRun = defineEntity({
  name: 'RetentionRun',
  tableName: 'retention_runs',
  properties: {
    class: p.text().primary(),
    /** When it last ran to its end, and what it removed then. */
    ranAt: instant().nullable(),
    removed: p.integer().default(0),
    /** Everything up to this id has been looked at; for classes without an index of their own. */
    doneUpTo: p.text().default(''),
  },
})

/** Clocks of servers that are kept right differ by less than a second. */
const MOST_APART_MS = 5 * MINUTE_MS

/**
 * What is old is decided by PostgreSQL's clock, so one that jumps would make everything old.
 *
 * @param now the clock of this process, in milliseconds since the epoch.
 * @throws {RetentionHeld} if it and PostgreSQL's are minutes apart.
 */
export async function requireSameClock(sql: Sql, now: () => number): Promise<void> {
  const { rows } = await raw<{ ms: number }>`
    select (1000 * extract(epoch from clock_timestamp()))::float8 as ms`.execute(sql)
  const ahead = (rows[0]?.ms ?? Number.NaN) - now()
  if (Math.abs(ahead) <= MOST_APART_MS) return
  const minutes = Math.round(Math.abs(ahead) / MINUTE_MS)
  throw new RetentionHeld(
    `PostgreSQL’s clock is ${minutes} minutes ${ahead > 0 ? 'ahead of' : 'behind'} this machine’s, so nothing is removed: correct the clock that is wrong`,
  )
}

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
