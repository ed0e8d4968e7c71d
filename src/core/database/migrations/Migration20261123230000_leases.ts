import { Migration } from '@mikro-orm/migrations'

/**
 * Jobs that one process at a time does are leased. The tables that were locked for that stay: workers of the version before
 * lock them until they are replaced.
 */
export class Migration20261123230000_leases extends Migration {
  override up(): void {
    this.addSql(`
create table leases (
  name text not null primary key,
  token int not null default 0,
  until timestamptz null
);
insert into leases (name)
values ('sweep'), ('comparison'), ('failing_workflows'), ('retention'), ('dormancy');
`)
  }
}
