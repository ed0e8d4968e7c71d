import { Migration } from '@mikro-orm/migrations'

/** Which settled deliveries wait to be sent once more, because somebody asked for it. */
export class Migration20261121203001_resends extends Migration {
  override up(): void {
    this.addSql(`alter table "deliveries" add column "resend_requested_at" timestamptz null`)
    this.addSql(
      `create index deliveries_resend_index on deliveries (partner_id, resend_requested_at) where resend_requested_at is not null`,
    )
  }
}
