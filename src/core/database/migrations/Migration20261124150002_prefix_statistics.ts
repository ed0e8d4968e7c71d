import { Migration } from '@mikro-orm/migrations'

/**
 * A thousandth of the leads is the least share of them that the planner can tell apart, in place of a hundredth. With a
 * hundredth it may take a prefix that few leads have for one that many have, and reads the partner's leads by their ids
 * until it has found a page of them.
 */
export class Migration20261124150002_prefix_statistics extends Migration {
  override up(): void {
    this.addSql('alter table leads alter partner_lead_id set statistics 1000')
  }
}
