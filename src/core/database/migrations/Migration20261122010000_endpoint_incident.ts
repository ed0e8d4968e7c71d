import { Migration } from '@mikro-orm/migrations'

/** An endpoint's open incident is called one. */
export class Migration20261122010000_endpoint_incident extends Migration {
  override up(): void {
    this.addSql(`alter table "endpoints" rename column "trouble" to "incident"`)
    this.addSql(
      `alter table "endpoints" rename constraint "endpoints_trouble_check" to "endpoints_incident_check"`,
    )
  }
}
