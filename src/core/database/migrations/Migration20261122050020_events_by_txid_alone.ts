import { Migration } from '@mikro-orm/migrations'

/** The index that orders events without their generation is not used any more. */
export class Migration20261122050020_events_by_txid_alone extends Migration {
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    this.addSql('drop index concurrently if exists lead_events_feed_index')
  }
}
