import type { Sql } from '../../core/database/orm.ts'
import { applyJournal } from './statements/apply-journal.ts'
import { type ErasureSettings, erasureTools } from './statements/journal.ts'

/** Erases again what a restored backup still has, before any process serves it. @returns what to say about it. */
export async function eraseMigrated(sql: Sql, config: ErasureSettings): Promise<string[]> {
  const { erased, held, unknown } = await applyJournal(sql, erasureTools(config))
  return [
    ...(erased.length > 0 ? [`Erased again what the record still had: leads ${erased.join(', ')}.`] : []),
    ...(held.length > 0
      ? [
          `Not erased again, because the record says that they are held: leads ${held.join(', ')}. See staff erasure apply.`,
        ]
      : []),
    ...(unknown.length > 0
      ? [
          `Not erased, because nobody knows whether they were erased before the restore: leads ${unknown.join(', ')}. See staff erasure list.`,
        ]
      : []),
  ]
}
