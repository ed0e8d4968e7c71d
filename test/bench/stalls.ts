import { sql as raw } from 'kysely'
import type { Sql } from '../../src/database/sql.ts'
import { GARBAGE } from './floors/names.ts'
import type { BenchProcess } from './servers.ts'

/** What may hold everything up for a moment, in all so far. */
export interface Stalls {
  /** Of PostgreSQL, whose disk everybody waits for. */
  checkpoints: number
  /** Of a worker's threads. */
  garbageMs: number
}

export async function stallsOf(sql: Sql, worker: BenchProcess): Promise<Stalls> {
  return { checkpoints: await checkpointsOf(sql), garbageMs: await garbageMsOf(worker) }
}

/** What came since, for a note: `checkpoints 0, garbage 41 ms`. */
export const describeStalls = (before: Stalls, after: Stalls) =>
  `${after.checkpoints - before.checkpoints} checkpoints, ${Math.round(after.garbageMs - before.garbageMs)} ms garbage`

/** Of PostgreSQL so far; NaN before version 17. */
export async function checkpointsOf(sql: Sql): Promise<number> {
  const { rows } = await raw<{ done: number }>`
    select (num_timed + num_requested)::int as done from pg_stat_checkpointer`
    .execute(sql)
    .catch(() => ({ rows: [] }))
  return rows[0]?.done ?? Number.NaN
}

async function garbageMsOf({ process: child }: BenchProcess): Promise<number> {
  return new Promise((resolve) => {
    const listen = ({ garbageMs }: { garbageMs?: number }) => {
      if (garbageMs === undefined) return
      child.off('message', listen)
      resolve(garbageMs)
    }
    child.on('message', listen)
    child.send(GARBAGE)
  })
}
