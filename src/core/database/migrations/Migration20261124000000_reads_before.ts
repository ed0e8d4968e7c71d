import { Migration } from '@mikro-orm/migrations'

/**
 * The reads that are there become one partition, for all that is before the first of a month to come: the check lets it be
 * attached without being read then. The next migration checks what is there.
 */
export class Migration20261124000000_reads_before extends Migration {
  override up(): void {
    this.addSql(`
do $$
declare
  -- between one month and two from now: the migrations after this one have so long
  bound timestamptz := date_trunc('month', now() at time zone 'UTC' + interval '2 months') at time zone 'UTC';
begin
  execute format(
    'alter table personal_reads add constraint personal_reads_before_check check (at < %L) not valid', bound);
end $$`)
  }
}
