import { Migration } from '@mikro-orm/migrations'

/** Apart from the migration that adds the check, because this reads the whole table, while the service goes on writing. */
export class Migration20261123150201_dormancy_checked extends Migration {
  override up(): void {
    this.addSql('alter table leads validate constraint leads_close_reason_check')
  }
}
