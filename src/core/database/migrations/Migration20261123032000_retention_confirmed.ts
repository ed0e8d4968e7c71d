import { Migration } from '@mikro-orm/migrations'

/** How many leads staff let retention erase within a day, beyond its ceiling. */
export class Migration20261123032000_retention_confirmed extends Migration {
  override up(): void {
    this.addSql(
      `alter table "retention_runs" add column "confirmed" int not null default 0, add column "confirmed_until" timestamptz null`,
    )
  }
}
