import { Migration } from '@mikro-orm/migrations'
import { sql as raw } from 'kysely'
import { type Em, sqlIn } from '../orm.ts'

/**
 * A migration that makes one index while the service goes on writing. `create index concurrently` cannot run in a
 * transaction, so the index may be there before the migration counts as applied: a complete one is kept, and an
 * invalid one, which a process that was cut off leaves behind, is dropped first.
 *
 * It waits until all older transactions have ended, a dump's for example. Nobody waits for it meanwhile, so it waits for
 * as long as that takes.
 */
export abstract class ConcurrentIndex extends Migration {
  /** Its name. */
  protected abstract readonly index: string
  protected readonly kind: 'index' | 'unique index' = 'index'
  /** Its table and columns, as `create index` takes them after `on`. */
  protected abstract readonly on: string

  override isTransactional(): boolean {
    return false
  }

  override async up(): Promise<void> {
    const sql = sqlIn(this.getEntityManager() as unknown as Em)
    await sql.connection().execute(async (connection) => {
      const run = (statement: string) => raw.raw(statement).execute(connection)
      await run('set lock_timeout = 0')
      const { rows } = await raw`select 1 from pg_index
        where indexrelid = to_regclass(${this.index}) and not indisvalid`.execute(connection)
      if (rows.length > 0) await run(`drop index concurrently ${this.index}`)
      await run(`create ${this.kind} concurrently if not exists ${this.index} on ${this.on}`)
      await run('reset lock_timeout')
    })
  }
}
