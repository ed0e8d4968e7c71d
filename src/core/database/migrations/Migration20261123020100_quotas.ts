import { Migration } from '@mikro-orm/migrations'

/** What partners have used up of what they may do only so often. */
export class Migration20261123020100_quotas extends Migration {
  override up(): void {
    this.addSql(
      `create table "quotas" ("partner_id" int not null, "name" text not null, "spent_until" timestamptz not null, primary key ("partner_id", "name"))`,
    )
    this.addSql(
      `alter table "quotas" add constraint "quotas_partner_id_foreign" foreign key ("partner_id") references "partners" ("id") on delete restrict`,
    )
  }
}
