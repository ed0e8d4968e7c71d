import type { Logger } from 'pino'
import { isDatabaseAway } from '../database/database-away.ts'
import type { Sql } from '../database/orm.ts'
import { forEachInFlight } from './in-flight.ts'
import { keepTurning } from './keep-turning.ts'
import { rememberFailures } from './remembered-failures.ts'

const INTERVAL_MS = 1000
const PAGE = 200
/** What is not urgent has something to do rarely, and mostly its workflow already: every fifth sweep. */
const RARELY = 5

/** Workflows that a crash or an absent Temporal may have left out: a room says how they are found and started. */
export interface Swept {
  /** For the log: said once for each until it starts. */
  failure: string
  /** What the log calls its id. */
  idName: string
  /** The workflow that is started; absent where an id stands for several. */
  workflowId?: (id: number) => string
  /** At most `limit` of those that need a workflow, apart from those in `but`, which may be among them nonetheless. */
  find: (sql: Sql, limit: number, but: readonly number[]) => Promise<number[]>
  start: (id: number) => Promise<unknown>
  /** In each sweep, and so many at a time. Its starts are told in the log. */
  urgent?: { inFlight: number }
}

interface SweepOptions {
  sql: Sql
  swept: readonly Swept[]
  log: Logger
  signal: AbortSignal
}

/**
 * Starts the workflows that a crash or an absent Temporal left out: every second, until `signal` aborts. Each worker does, as
 * a start that is repeated changes nothing.
 */
export async function sweep(options: SweepOptions): Promise<void> {
  const { swept, log, signal } = options
  const rows = swept.map((row) => ({ isUrgent: row.urgent !== undefined, take: turnOf(row, options) }))
  let next = 0
  const loop = {
    everyMs: INTERVAL_MS,
    async turn() {
      const isRare = next % RARELY === 0
      next += 1
      const faults: unknown[] = []
      let started = 0
      for (const { isUrgent, take } of rows) {
        if (!isUrgent && !isRare) continue
        const count = await take().catch((error: unknown) => {
          if (isDatabaseAway(error)) throw error
          faults.push(error)
          return 0
        })
        if (isUrgent) started += count
      }
      if (started > 0) log.info({ started }, 'started workflows that were left out')
      if (faults.length > 0) throw faults[0]
    },
    onFailure: (err: unknown) =>
      log.warn({ err }, 'cannot start workflows that were left out; trying again every second'),
  }
  await keepTurning(loop, { signal })
}

/** Starts what a row finds, apart from those that failed a moment ago. Answers how many. */
function turnOf(
  { failure, idName, workflowId, find, start, urgent }: Swept,
  { sql, log, signal }: Pick<SweepOptions, 'sql' | 'log' | 'signal'>,
): () => Promise<number> {
  const failures = rememberFailures((err, id) => {
    const workflow = workflowId && { workflow_id: workflowId(id) }
    log.error({ err, [idName]: id, ...workflow }, failure)
  })
  return async () => {
    const resting = failures.resting()
    const but = new Set(resting)
    // those that failed must not hide the rest
    const ids = (await find(sql, PAGE + resting.length, resting)).filter((id) => !but.has(id))
    const failed = await forEachInFlight(ids, start, { signal, ...(urgent && { limit: urgent.inFlight }) })
    failures.learn(ids, failed)
    return ids.length - failed.length
  }
}
