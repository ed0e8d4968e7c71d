import { Migration } from '@mikro-orm/migrations'

/** A number of its own for each arrival; the last 100 that are there count as first ones. */
export class Migration20261126100000_attempts_at_sinks extends Migration {
  override up(): void {
    // a process of the version before knows no number
    this.addSql('alter table sink_webhooks add column attempt int not null default 1')
  }
}
