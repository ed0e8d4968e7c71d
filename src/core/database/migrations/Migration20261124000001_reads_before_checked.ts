import { Migration } from '@mikro-orm/migrations'

/** Apart from the migration that adds the check, because this reads the whole table, while the service goes on writing. */
export class Migration20261124000001_reads_before_checked extends Migration {
  override up(): void {
    this.addSql('alter table personal_reads validate constraint personal_reads_before_check')
  }
}
