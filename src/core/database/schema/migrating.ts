import { sql as raw } from 'kysely'
import { FOREIGN, otherSchema } from './schema-version.ts'
import { takeLock } from '../locks/locks.ts'
import type { Orm } from '../orm.ts'
import { sqlOf } from '../sql.ts'
import type { Patience } from '../session-options.ts'

/** A statement that changes a table waits for all that use it, and whatever comes after waits for that statement. */
export const migrationPatience: Patience = {
  connectMs: 2000,
  lockMs: 3000,
  statementMs: 0,
  idleInTransactionMs: 0,
  application: 'migrate',
}

/**
 * Brings the schema up to date, in one transaction. Two processes that try at once take turns.
 *
 * @returns how many migrations were applied.
 * @throws {Error} one line that says what to do about a schema that no migration of ours made.
 */
export async function migrate(orm: Orm): Promise<number> {
  return sqlOf(orm)
    .transaction()
    .execute(async (trx) => {
      await raw`set local lock_timeout = 0`.execute(trx)
      await raw`set local idle_in_transaction_session_timeout = 0`.execute(trx)
      await takeLock(trx, 'migration')
      if ((await otherSchema(trx)) === FOREIGN) throw new Error(FOREIGN)
      return (await orm.migrator.up()).length
    })
}
