import { Migration } from '@mikro-orm/migrations'

/** The one of prefixes, made before, has taken its place. */
export class Migration20261124150001_former_index extends Migration {
  override up(): void {
    this.addSql('drop index leads_partner_lead_id_index')
  }
}
