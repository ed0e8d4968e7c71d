import { Migration } from '@mikro-orm/migrations'

/** A partner's deliveries in all states are merged from those in each: one index does for both. */
export class Migration20261121202010_deliveries_of_a_partner_by_state extends Migration {
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    this.addSql('drop index concurrently if exists deliveries_partner_id_event_id_index')
  }
}
