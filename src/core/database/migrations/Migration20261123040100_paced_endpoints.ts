import { Migration } from '@mikro-orm/migrations'

export class Migration20261123040100_paced_endpoints extends Migration {
  override up(): void {
    this.addSql('alter table endpoints add column paced_until timestamptz null')
  }
}
