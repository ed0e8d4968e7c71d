import { Migration } from '@mikro-orm/migrations'

/** Erasures that wait until somebody was told of them. */
export class Migration20261123031000_erasures_announced extends Migration {
  override up(): void {
    this.addSql(`alter table "erasures" add column "is_announced" boolean not null default false`)
    // those that were requested for a later day
    this.addSql(
      `update "erasures" set "is_announced" = due_at > requested_at + interval '1 day' where erased_at is null`,
    )
  }
}
