import { setTimeout as delay } from 'node:timers/promises'
import { sql as raw } from 'kysely'
import {
  type RetentionClass,
  retentionClasses,
  type RetentionDays,
  retentionEveryMs,
} from '../decisions/retention.ts'
import type { ErasureTools } from '../../erasure/statements/journal.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { requireFewLeads, requireSameClock } from './brakes.ts'
import { retained } from './classes.ts'

/** After each batch, at least; live traffic goes first. */
const PAUSE_MS = 100

interface RunOptions {
  sql: Sql
  days: RetentionDays
  /** Leads that it erases within 24 hours before staff confirm. */
  mostLeadsADay: number
  tools: ErasureTools
  /** The clock of this process, in milliseconds since the epoch. */
  now?: () => number
  signal?: AbortSignal
  /** Called after each batch. */
  onRemoved?: (name: RetentionClass, removed: number) => void
}

/** The classes that are on and have not run for as long as they may wait. */
export async function dueClasses(sql: Sql, days: RetentionDays): Promise<RetentionClass[]> {
  const rows = await sql
    .selectFrom('retention_runs')
    .select(['class', raw<number>`(1000 * extract(epoch from now() - ran_at))::float8`.as('ageMs')])
    .where('ran_at', 'is not', null)
    .execute()
  const ages = new Map(rows.map((row) => [row.class, row.ageMs]))
  return retentionClasses.filter(
    (name) => days[name] !== null && (ages.get(name) ?? Infinity) >= retentionEveryMs(name),
  )
}

/**
 * Removes what is old of a class, in small batches with a pause as long as each took. Interrupted, it goes on where it was.
 *
 * @returns how many rows it removed; `undefined` if the class is off.
 * @throws {RetentionHeld} before a batch that should not be removed without a person.
 */
export async function runRetention(
  { sql, days, mostLeadsADay, tools, now = Date.now, signal, onRemoved }: RunOptions,
  name: RetentionClass,
): Promise<number | undefined> {
  const limit = days[name]
  if (limit === null) return undefined
  let total = 0
  for (;;) {
    const began = performance.now()
    await requireSameClock(sql, now)
    if (name === 'leads') await requireFewLeads(sql, limit, mostLeadsADay)
    const { removed, isLast } = await retained[name].remove(sql, limit, tools)
    total += removed
    onRemoved?.(name, removed)
    if (isLast) await noteRun(sql, name, total)
    if (isLast || signal?.aborted) return total
    await delay(Math.max(PAUSE_MS, performance.now() - began), undefined, { signal }).catch(() => {})
  }
}

async function noteRun(sql: Sql, name: RetentionClass, removed: number): Promise<void> {
  const ran = { ran_at: raw<Date>`clock_timestamp()`, removed }
  await sql
    .insertInto('retention_runs')
    .values({ class: name, ...ran })
    .onConflict((conflict) => conflict.column('class').doUpdateSet(ran))
    .execute()
}

/** What each class has come to, and what a run would remove now. */
export async function showRetention(sql: Sql, days: RetentionDays) {
  const runs = new Map(
    (await sql.selectFrom('retention_runs').select(['class', 'ran_at', 'removed']).execute()).map((row) => [
      row.class,
      row,
    ]),
  )
  return Promise.all(
    retentionClasses.map(async (name) => {
      const limit = days[name]
      const counted = limit === null ? undefined : await retained[name].count(sql, limit)
      const { ran_at: ranAt = null, removed = 0 } = runs.get(name) ?? {}
      return { class: name, days: limit, ...counted, ran_at: ranAt, removed }
    }),
  )
}
