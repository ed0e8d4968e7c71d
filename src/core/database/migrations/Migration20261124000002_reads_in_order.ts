import { ConcurrentIndex } from '../schema/concurrent-index.ts'

/** The primary key of a table that is partitioned by time has the time in it. */
export class Migration20261124000002_reads_in_order extends ConcurrentIndex {
  protected override readonly kind = 'unique index'
  protected readonly index = 'personal_reads_before_pkey'
  protected readonly on = 'personal_reads (at, id)'
}
