import { Migration } from '@mikro-orm/migrations'

/** Checks the rows that were there before a kind of read was added. */
export class Migration20261123140100_kinds_of_reads extends Migration {
  override up(): void {
    this.addSql('alter table personal_reads validate constraint personal_reads_what_check')
  }
}
