import { randomUUID } from 'node:crypto'
import type { JournalLine, JournalStep } from '../decisions/erasure.ts'
import type { Sql } from '../../../core/database/orm.ts'
import type { Journal, Journaled } from './journal.ts'

/** A lead that is about to be erased, as its lines in the journal name it. */
export type Intended = Pick<JournalLine, 'deployment' | 'lead_id' | 'event_id' | 'at'>

/** Writes that leads are about to be erased, and answers where each line is; to be called once. */
type Intend = (leads: readonly Intended[]) => Promise<Journaled[]>

/**
 * Runs a transaction that erases leads, with their intents in the journal before it commits and their ends after it. The
 * record notes the intent first, in a transaction of its own, so that it can later say what became of it. An intent without
 * an end is left where the process is killed, where the answer to the commit is lost, and where the end cannot be written:
 * `endOpenIntents` ends it.
 *
 * @param work must have locked the leads before it calls `intend`: who settles an intent waits for that lock.
 */
export async function withIntent<Result>(
  sql: Sql,
  journal: Journal | undefined,
  work: (trx: Sql, intend: Intend) => Promise<Result>,
): Promise<Result> {
  if (journal === undefined) return sql.transaction().execute((trx) => work(trx, async () => []))
  const intent = randomUUID()
  await sql.insertInto('erasure_intents').values({ id: intent }).execute()
  const lines: JournalLine[] = []
  const end = async (step: JournalStep) => {
    const at = new Date().toISOString()
    await journal.append(lines.map((line) => ({ ...line, step, at })))
  }
  // as long as no commit is sent, none can happen
  let canCommit = false
  try {
    const result = await sql.transaction().execute(async (trx) => {
      await trx.deleteFrom('erasure_intents').where('id', '=', intent).execute()
      const intend: Intend = async (leads) => {
        lines.push(...leads.map((lead) => ({ step: 'intent' as const, intent, ...lead })))
        return journal.append(lines)
      }
      const worked = await work(trx, intend)
      canCommit = true
      return worked
    })
    await end('erased').catch(() => undefined)
    return result
  } catch (error) {
    if (!canCommit)
      await end('void')
        .then(() => forgetIntents(sql, [intent]))
        .catch(() => undefined)
    throw error
  }
}

/** Removes the notes of intents that the journal says are void. */
export async function forgetIntents(sql: Sql, intents: readonly string[]): Promise<void> {
  if (intents.length > 0) await sql.deleteFrom('erasure_intents').where('id', 'in', intents).execute()
}
