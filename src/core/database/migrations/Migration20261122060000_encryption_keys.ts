import { Migration } from '@mikro-orm/migrations'

/** Which keys a process needs to read what is sealed. */
export class Migration20261122060000_encryption_keys extends Migration {
  override up(): void {
    this.addSql(
      `create table "encryption_keys" ("id" text not null primary key, "first_used_at" timestamptz not null default clock_timestamp(), "retired_at" timestamptz null)`,
    )
  }
}
