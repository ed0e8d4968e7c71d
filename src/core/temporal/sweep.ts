import type { Logger } from 'pino'
import { isDatabaseAway } from '../database/database-away.ts'
import { alone } from '../database/locks/alone.ts'
import type { Sql } from '../database/orm.ts'
import { forEachInFlight } from './in-flight.ts'
import { keepTurning, type LoopOptions } from './keep-turning.ts'
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

/** What is done every fifth sweep, before anything is started: it needs no Temporal. */
export type Chore = () => Promise<unknown>

interface SweepOptions extends LoopOptions {
  sql: Sql
  swept: readonly Swept[]
  chores: readonly Chore[]
  log: Logger
}

/**
 * Starts the workflows that a crash or an absent Temporal left out: every second, by one process at a time,
 * until `signal` aborts.
 */
export async function sweep(options: SweepOptions): Promise<void> {
  const { sql, swept, chores, log, signal, watchLoop } = options
  const turns = swept.map((row) => ({
    isUrgent: row.urgent !== undefined,
    take: turnOf(row, { sql, log, signal }),
  }))
  const urgent = turns.filter(({ isUrgent }) => isUrgent)
  const rare = turns.filter(({ isUrgent }) => !isUrgent)

  /** @param rareFaults absent in a turn without what is rare. */
  async function take(rareFaults: unknown[] | undefined): Promise<number> {
    const faults: unknown[] = []
    if (rareFaults !== undefined) await each(chores, rareFaults)
    let started = 0
    await each(
      urgent.map((turn) => async () => (started += await turn.take())),
      faults,
    )
    if (rareFaults !== undefined)
      await each(
        rare.map((turn) => turn.take),
        rareFaults,
      )
    if (faults.length > 0) throw faults[0]
    return started
  }

  const rareTurned = watchLoop?.('sweep_rare')
  let isRareFailing = false
  /** It has an end of its own: the turns between would hide that it fails. */
  function endRare(faults: readonly unknown[]): void {
    const [err] = faults
    if (faults.length === 0) rareTurned?.(INTERVAL_MS * RARELY)
    else if (!isRareFailing)
      log.warn({ err }, 'cannot do all that is done every five seconds; trying again every five seconds')
    isRareFailing = faults.length > 0
  }

  let next = 0
  const loop = {
    name: 'sweep',
    everyMs: INTERVAL_MS,
    async turn() {
      const isRare = next % RARELY === 0
      next += 1
      const rareFaults = isRare ? [] : undefined
      const started = await alone(sql, 'sweep', () => take(rareFaults))
      if (rareFaults !== undefined) endRare(rareFaults)
      if (started > 0) log.info({ started }, 'started workflows that were left out')
    },
    onFailure: (err: unknown) =>
      log.warn({ err }, 'cannot start workflows that were left out; trying again every second'),
  }
  await keepTurning(loop, options)
}

/** Does one after the other, whatever becomes of those before. @throws {Error} once PostgreSQL is away: for all alike. */
async function each(works: readonly Chore[], faults: unknown[]): Promise<void> {
  for (const work of works) {
    await work().catch((error: unknown) => {
      if (isDatabaseAway(error)) throw error
      faults.push(error)
    })
  }
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
