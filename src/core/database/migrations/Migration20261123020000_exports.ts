import { Migration } from '@mikro-orm/migrations'

/** Exports of leads that partners read, one at a time for each. */
export class Migration20261123020000_exports extends Migration {
  override up(): void {
    this.addSql(
      `create table "exports" ("partner_id" int not null primary key, "lease" uuid not null, "leased_until" timestamptz not null)`,
    )
    this.addSql(
      `alter table "exports" add constraint "exports_partner_id_foreign" foreign key ("partner_id") references "partners" ("id") on update cascade on delete restrict`,
    )
  }
}
