import { Migration } from '@mikro-orm/migrations'

/** A notice's hour was only that of some kinds. */
export class Migration20261122064200_notices_owed_at extends Migration {
  override up(): void {
    this.addSql('alter table notices rename column hour to owed_at')
  }
}
