import { Migration } from '@mikro-orm/migrations'

/**
 * A migration that makes one index while the service goes on writing. `create index concurrently` cannot run in a
 * transaction, so the index may be there before the migration counts as applied: a complete one is kept, and an
 * invalid one, which a process that was cut off leaves behind, is dropped first.
 */
export abstract class ConcurrentIndex extends Migration {
  /** Its name. */
  protected abstract readonly index: string
  /** Its table and columns, as `create index` takes them after `on`. */
  protected abstract readonly on: string

  override isTransactional(): boolean {
    return false
  }

  override async up(): Promise<void> {
    const invalid = await this.execute(
      'select 1 from pg_index where indexrelid = to_regclass(?) and not indisvalid',
      [this.index],
    )
    if (invalid.length > 0) this.addSql(`drop index concurrently ${this.index}`)
    this.addSql(`create index concurrently if not exists ${this.index} on ${this.on}`)
  }
}
