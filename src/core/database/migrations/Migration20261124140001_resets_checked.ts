import { Migration } from '@mikro-orm/migrations'

/** Apart from the migration that adds the check, because this reads the whole table, while the service goes on writing. */
export class Migration20261124140001_resets_checked extends Migration {
  override up(): void {
    this.addSql('alter table erasures validate constraint erasures_reason_check')
  }
}
