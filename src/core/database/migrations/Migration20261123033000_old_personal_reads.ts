import { Migration } from '@mikro-orm/migrations'

/** The service deletes old reads by this function alone, which leaves those of the last year. */
export class Migration20261123033000_old_personal_reads extends Migration {
  override async up(): Promise<void> {
    const rows = await this.execute('select quote_ident(current_schema()) as schema')
    const schema = String(rows[0]?.schema)
    this.addSql(`
      create function delete_old_personal_reads(days int, most int) returns int
      language plpgsql security definer set search_path = pg_catalog, ${schema}, pg_temp as $$
      declare
        removed int;
      begin
        if days is null or days < 365 then
          raise exception 'reads of personal data are kept for a year' using errcode = 'insufficient_privilege';
        end if;
        delete from personal_reads where id in (
          select id from personal_reads where at < now() - days * interval '1 day' limit most);
        get diagnostics removed = row_count;
        return removed;
      end $$`)
    this.addSql('revoke execute on function delete_old_personal_reads(int, int) from public')
  }
}
