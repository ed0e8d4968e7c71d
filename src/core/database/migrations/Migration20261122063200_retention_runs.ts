import { Migration } from '@mikro-orm/migrations'

/** How far retention has come. */
export class Migration20261122063200_retention_runs extends Migration {
  override up(): void {
    this.addSql(
      `create table "retention_runs" ("class" text not null primary key, "ran_at" timestamptz null, "removed" int not null default 0, "done_up_to" text not null default '')`,
    )
  }
}
