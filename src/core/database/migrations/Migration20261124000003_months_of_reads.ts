import { Migration } from '@mikro-orm/migrations'

/**
 * Reads of personal data are partitioned by month, and old months are dropped. What is there stays where it is, as the first
 * partition: no row is read or written for it.
 *
 * The service's role owns no table, so functions of the owner make months and drop them: those of this time alone, and those
 * that are older than a year alone. Each gives way after half a second to whoever uses the table.
 */
export class Migration20261124000003_months_of_reads extends Migration {
  override async up(): Promise<void> {
    const [row] = await this.execute('select quote_ident(current_schema()) as schema')
    for (const statements of [BEFORE, PARTITIONED, RIGHTS, FIRST_PARTITION, functions(String(row?.schema))])
      this.addSql(statements)
    this.addSql('select make_months_of_reads()')
  }
}

/** The table under another name. Its ids go on. */
const BEFORE = `
alter table personal_reads rename to personal_reads_before;
alter table personal_reads_before drop constraint personal_reads_pkey;
alter table personal_reads_before add constraint personal_reads_before_pkey
  primary key using index personal_reads_before_pkey;
drop index personal_reads_at_index;
alter index personal_reads_lead_id_index rename to personal_reads_before_lead_id_index;
alter index personal_reads_key_id_index rename to personal_reads_before_key_id_index;
alter index personal_reads_staff_index rename to personal_reads_before_staff_index;
do $$
declare
  first bigint := nextval('personal_reads_id_seq');
begin
  alter table personal_reads_before alter column id drop identity;
  execute format('create sequence personal_reads_id_seq start %s', first);
end $$;
`

/** A sequence, because PostgreSQL before version 17 has no identity in a partitioned table. */
const PARTITIONED = `
create table personal_reads (
  at timestamptz not null default clock_timestamp(),
  id bigint not null default nextval('personal_reads_id_seq'),
  lead_id int not null,
  partner_id int not null,
  key_id int,
  staff text,
  os_user text,
  database_user text,
  what text not null
    constraint personal_reads_what_check check (what in ('get-lead', 'export-lead', 'get-deliveries', 'lead show',
      'lead export', 'find by email', 'find by lead id', 'find by partner_lead_id', 'find by webhook',
      'find by request')),
  constraint personal_reads_reader_check check ((key_id is null) = (staff is not null)),
  primary key (at, id)
) partition by range (at);
alter sequence personal_reads_id_seq owned by personal_reads.id;
create index personal_reads_lead_id_index on personal_reads (lead_id, at);
create index personal_reads_key_id_index on personal_reads (key_id, at) where key_id is not null;
create index personal_reads_staff_index on personal_reads (partner_id, at) where staff is not null;
`

/** Processes that are running keep theirs until roles get their rights anew. */
const RIGHTS = `
do $$
declare
  given record;
begin
  for given in
    select privilege_type as privilege, '' as columns, grantee
    from pg_class cross join lateral aclexplode(relacl)
    where oid = 'personal_reads_before'::regclass and grantee not in (0, relowner)
    union all
    select privilege_type, format('(%I)', attname), grantee
    from pg_attribute cross join lateral aclexplode(attacl)
    where attrelid = 'personal_reads_before'::regclass and grantee <> 0
  loop
    execute format('grant %s %s on personal_reads to %s', given.privilege, given.columns, given.grantee::regrole);
    if given.privilege = 'INSERT' then
      execute format('grant usage on sequence personal_reads_id_seq to %s', given.grantee::regrole);
    end if;
  end loop;
end $$;
`

/** Dropped where it is empty. */
const FIRST_PARTITION = `
do $$
declare
  bound text;
begin
  if not exists (select from personal_reads_before) then
    drop table personal_reads_before;
    return;
  end if;
  select substring(pg_get_constraintdef(oid) from '''([^'']+)''') into strict bound
  from pg_constraint where conrelid = 'personal_reads_before'::regclass and conname = 'personal_reads_before_check';
  execute format(
    'alter table personal_reads attach partition personal_reads_before for values from (minvalue) to (%L)', bound);
  alter table personal_reads_before drop constraint personal_reads_before_check;
end $$;
`

const functions = (schema: string) => `
-- The partitions, each with the time from which on and before which its reads were.
create function months_of_reads() returns table (part regclass, since timestamptz, until timestamptz)
language sql stable
set search_path = pg_catalog, ${schema}, pg_temp
set timezone = 'UTC' set datestyle = 'ISO' as $$
  select oid::regclass, coalesce(substring(bound from 'FROM \\(''([^'']+)')::timestamptz, '-infinity'),
    substring(bound from 'TO \\(''([^'']+)')::timestamptz
  from pg_inherits join pg_class on oid = inhrelid cross join lateral pg_get_expr(relpartbound, oid) as bound
  where inhparent = 'personal_reads'::regclass
$$;
revoke all on function months_of_reads from public;

-- Makes the months that are missing, from the last to the third from now. Nobody who reads or writes waits for it.
create function make_months_of_reads() returns int language plpgsql security definer
set search_path = pg_catalog, ${schema}, pg_temp
set timezone = 'UTC' set datestyle = 'ISO' set lock_timeout = '500ms' as $$
declare
  month timestamptz;
  month_after timestamptz;
  name text;
  made int := 0;
begin
  for ahead in -1..3 loop
    month := date_trunc('month', clock_timestamp()) + ahead * interval '1 month';
    month_after := month + interval '1 month';
    continue when exists (select from months_of_reads() where since <= month and until > month);
    lock table personal_reads in share update exclusive mode;
    -- another process may have made it meanwhile
    continue when exists (select from months_of_reads() where since <= month and until > month);
    name := 'personal_reads_' || to_char(month, 'YYYY_MM');
    -- one that somebody has detached is attached again
    execute format('create table if not exists %s.%I (like personal_reads including constraints)', '${schema}', name);
    execute format('alter table personal_reads attach partition %I for values from (%L) to (%L)',
      name, month, month_after);
    made := made + 1;
  end loop;
  return made;
end $$;
revoke all on function make_months_of_reads from public;

-- Drops the months that were over so many days ago, of which there must be 365 at least. Of the reads from before there
-- were months, it deletes so many at most.
create or replace function delete_old_personal_reads(days int, most int) returns int language plpgsql security definer
set search_path = pg_catalog, ${schema}, pg_temp
set timezone = 'UTC' set datestyle = 'ISO' set lock_timeout = '500ms' as $$
declare
  kept timestamptz := date_trunc('month', now() - days * interval '1 day');
  month regclass;
  counted bigint;
  removed bigint := 0;
begin
  if days is null or days < 365 then
    raise exception 'reads of personal data are kept for a year' using errcode = 'insufficient_privilege';
  end if;
  for month in select part from months_of_reads() where until <= kept loop
    -- above a million, an estimate is enough
    execute format('select count(*) from (select from %s limit 1000000) as some_of_them', month) into counted;
    if counted = 1000000 then
      select greatest(counted, reltuples::bigint) into counted from pg_class where oid = month;
    end if;
    execute format('drop table %s', month);
    removed := removed + counted;
  end loop;
  if to_regclass('personal_reads_before') is not null then
    delete from personal_reads_before where (at, id) in (
      select at, id from personal_reads_before where at < kept order by at limit most);
    get diagnostics counted = row_count;
    removed := removed + counted;
  end if;
  return least(removed, 2147483647);
end $$;

-- Also where nobody has made this month.
create or replace function write_staff_read(lead int, named text, os_user text, what text)
returns bigint language sql security definer
set search_path = pg_catalog, ${schema}, pg_temp as $$
  select make_months_of_reads();
  insert into personal_reads (at, lead_id, partner_id, staff, os_user, database_user, what)
  select clock_timestamp(), id, partner_id, $2, $3, session_user, $4 from leads where id = $1
  returning id
$$;
`
