import { Migration } from '@mikro-orm/migrations'

/** The date of the last attempt but one is called that, whatever the length of the schedule. */
export class Migration20261122020000_last_but_one extends Migration {
  override up(): void {
    this.addSql(`alter table "deliveries" rename column "ninth_attempt_at" to "last_but_one_at"`)
  }
}
