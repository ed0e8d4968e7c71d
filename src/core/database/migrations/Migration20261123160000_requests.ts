import { Migration } from '@mikro-orm/migrations'

/** No foreign keys: each would lock a row for every request that is noted. */
export class Migration20261123160000_requests extends Migration {
  override async up(): Promise<void> {
    this.addSql(`
create table requests (
  partner_id int,
  id uuid,
  key_id int not null,
  call text not null,
  status smallint not null,
  error_code text,
  fields text[] not null default '{}',
  lead_id int,
  duration_ms int not null,
  primary key (partner_id, id)
);`)
  }
}
