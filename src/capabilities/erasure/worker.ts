import type { Client } from '@temporalio/client'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Sql } from '../../core/database/orm.ts'
import type { Swept } from '../../core/temporal/sweep.ts'
import type { Waiting } from '../../metrics/waiting.ts'
import { erasureId } from './decisions/erasure.ts'
import { applyJournal } from './statements/apply-journal.ts'
import { type ErasureSettings, erasureTools } from './statements/journal.ts'
import { lackingLines } from './statements/journal-lines.ts'
import { countOverdue } from './statements/overdue.ts'
import { erasuresToStart, isErasureUnseen } from './statements/requests.ts'
import { createUnknownErasures } from './unknown-erasures.ts'
import { createErasureStarter } from './workflows/erasures.ts'

const HELD =
  'leads that were erased are held in the restored record: release them and run staff erasure apply, or keep them'

/**
 * Nothing is erased that a restored backup could bring back unnoticed.
 *
 * @throws {Error} one line that says what to do.
 */
export async function requireJournal(sql: Sql, config: ErasureSettings): Promise<void> {
  const tools = erasureTools(config)
  const { journal } = tools
  await journal?.prepare().catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(
      `The erasure journal cannot be written in ${journal.folder}: correct ERASURE_JOURNAL (${reason})`,
      { cause: error },
    )
  })
  const remedy = await lackingLines(sql, tools)
  if (remedy !== undefined) throw new Error(remedy)
}

/** Erasures that are requested. */
export function erasuresLeftOut(dependencies: { client: Client; sql: Sql }): Swept {
  const { sql } = dependencies
  const start = createErasureStarter(dependencies)
  return {
    failure: 'cannot start a lead’s erasure; trying again every minute',
    idName: 'lead_id',
    workflowId: erasureId,
    find: erasuresToStart,
    // a running one may wait for the day of what staff have erased at once, or of what is to be told again
    start: async (leadId) => start(leadId, { quietly: !(await isErasureUnseen(sql, leadId)) }),
  }
}

/** Erases again what a restored record still has, before any workflow continues with a lead that was erased. */
export function eraseRestored({ sql, config, registry, log }: RestoreOptions) {
  const tools = erasureTools(config)
  const tellUnknown = createUnknownErasures(registry, log)
  return async (onPage: () => void): Promise<void> => {
    const { erased, held, unknown } = await applyJournal(sql, tools, onPage)
    if (erased.length > 0)
      log.warn({ lead_ids: erased }, 'erased leads again that the restored record still had')
    if (held.length > 0) log.error({ lead_ids: held }, HELD)
    tellUnknown(unknown)
  }
}

interface RestoreOptions {
  sql: Sql
  config: ErasureSettings
  registry: Registry
  log: Logger
}

/** What the metrics tell of erasures that wait. */
export const overdueErasures: Waiting = {
  help: {
    referrals_erasures_overdue: 'Erasures that should have been carried out, or announced by email',
    referrals_erasure_oldest_overdue_seconds: 'How long the oldest overdue erasure has been overdue',
  },
  async read(sql) {
    const { count, oldestSeconds } = await countOverdue(sql)
    return {
      referrals_erasures_overdue: count,
      referrals_erasure_oldest_overdue_seconds: oldestSeconds,
    }
  },
}
