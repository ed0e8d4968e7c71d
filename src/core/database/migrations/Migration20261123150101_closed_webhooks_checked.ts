import { Migration } from '@mikro-orm/migrations'

/** Apart from the migration that adds the checks, because this reads the whole table, while the service goes on writing. */
export class Migration20261123150101_closed_webhooks_checked extends Migration {
  override up(): void {
    this.addSql('alter table lead_events validate constraint lead_events_event_name_check')
    this.addSql('alter table lead_events validate constraint lead_events_history_check')
  }
}
