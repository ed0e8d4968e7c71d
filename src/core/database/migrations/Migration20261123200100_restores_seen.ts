import { Migration } from '@mikro-orm/migrations'

/** A person says that they have seen what a restore lost. Those that are over by now need nobody any more. */
export class Migration20261123200100_restores_seen extends Migration {
  override up(): void {
    this.addSql(`
alter table restores add column seen_at timestamptz;
update restores set seen_at = finished_at where finished_at is not null;
`)
  }
}
