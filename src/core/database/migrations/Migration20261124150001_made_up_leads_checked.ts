import { Migration } from '@mikro-orm/migrations'

/** Apart from the migration that changes the key, because this reads the whole table, while the service goes on writing. */
export class Migration20261124150001_made_up_leads_checked extends Migration {
  override up(): void {
    this.addSql('alter table population_leads validate constraint population_leads_population_id_foreign')
  }
}
