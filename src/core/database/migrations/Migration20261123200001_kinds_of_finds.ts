import { Migration } from '@mikro-orm/migrations'

/** Checks the rows that were there before finds were reads. */
export class Migration20261123200001_kinds_of_finds extends Migration {
  override up(): void {
    this.addSql('alter table personal_reads validate constraint personal_reads_what_check')
  }
}
