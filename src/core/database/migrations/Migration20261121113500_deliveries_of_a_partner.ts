import { Migration } from '@mikro-orm/migrations'

/** A partner's deliveries, the newest first, without reading everybody's. */
export class Migration20261121113500_deliveries_of_a_partner extends Migration {
  override up(): void {
    this.addSql(
      `create index "deliveries_partner_id_event_id_index" on "deliveries" ("partner_id", "event_id")`,
    )
  }
}
