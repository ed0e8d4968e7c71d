import { Migration } from '@mikro-orm/migrations'

/**
 * Rehearsals, which are of an endpoint and not of a candidate. The next migrations add the indexes. The columns have names that
 * the tables beside this one do not: processes of an older version join them.
 */
export class Migration20261124130000_rehearsals extends Migration {
  override up(): void {
    this.addSql(`
alter table certifications
  alter column change_id drop not null,
  add column rehearsed_endpoint_id int
    constraint certifications_rehearsed_endpoint_id_foreign references endpoints on delete restrict,
  add column rehearsed_url text,
  add column checks text[],
  add constraint certifications_rehearsal_check check (
    num_nonnulls(rehearsed_endpoint_id, rehearsed_url, checks) = case when change_id is null then 3 else 0 end
  );
`)
  }
}
