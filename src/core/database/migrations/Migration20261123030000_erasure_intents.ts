import { Migration } from '@mikro-orm/migrations'

/** Erasures that have begun: by them, the record says what became of an intent in the journal. */
export class Migration20261123030000_erasure_intents extends Migration {
  override up(): void {
    this.addSql(
      `create table "erasure_intents" ("id" text not null primary key, "noted_at" timestamptz not null default clock_timestamp())`,
    )
  }
}
