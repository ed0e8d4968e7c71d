import { Migration } from '@mikro-orm/migrations'

export class Migration20261123040000_onboarding_mail_lease extends Migration {
  override up(): void {
    this.addSql('alter table onboarding_mails add column sending_until timestamptz null')
  }
}
