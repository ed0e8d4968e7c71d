import { Migration } from '@mikro-orm/migrations'

/** Which request caused a webhook, for the lines of its attempts in the log. */
export class Migration20261123190000_request_ids extends Migration {
  override up(): void {
    this.addSql('alter table deliveries add column request_id uuid')
  }
}
