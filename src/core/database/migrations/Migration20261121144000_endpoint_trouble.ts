import { Migration } from '@mikro-orm/migrations'

/** What operators know of an endpoint's trouble, so that each turn of it is told once. */
export class Migration20261121144000_endpoint_trouble extends Migration {
  override up(): void {
    this.addSql(`alter table "endpoints" add column "trouble" text null`)
    this.addSql(
      `alter table "endpoints" add constraint "endpoints_trouble_check" check (trouble in ('failing', 'paused'))`,
    )
    // they were told of before
    this.addSql(`update endpoints set trouble = 'paused' where state = 'paused' and url is not null`)
  }
}
