import { Migration } from '@mikro-orm/migrations'

/** Reading a lead asks for closings only where there are any: the question cost each read a quarter of its statement. */
export class Migration20261123170000_has_closings extends Migration {
  override up(): void {
    this.addSql(`
alter table leads add column has_closings boolean not null default false;
update leads set has_closings = true where exists (select from closings where closings.lead_id = leads.id);
`)
  }
}
