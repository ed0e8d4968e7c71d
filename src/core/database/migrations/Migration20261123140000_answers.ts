import { Migration } from '@mikro-orm/migrations'

/** What an attempt was signed as, which addresses a key is bound to, and reads of what endpoints answered. */
export class Migration20261123140000_answers extends Migration {
  override up(): void {
    this.addSql('alter table attempts add column signed_at timestamptz, add column signature text')
    this.addSql('alter table api_keys add column networks text[]')
    // checked by the next migration, which keeps nobody from writing meanwhile
    this.addSql(`
      alter table personal_reads drop constraint personal_reads_what_check, add constraint personal_reads_what_check
        check (what in ('get-lead', 'export-lead', 'get-deliveries', 'lead show', 'lead export')) not valid`)
  }
}
