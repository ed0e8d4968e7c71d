const deleteOldReads = (schema: string) => `
-- Drops the months that were over so many days ago, of which there must be 365 at least.
create function delete_old_personal_reads(days int) returns int language plpgsql security definer
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
  return least(removed, 2147483647);
end $$;
`

/**
 * Who read which borrower's personal data, partitioned by month. Its functions find their own tables, as those of the audit
 * do. Its ids are of a sequence, because PostgreSQL before version 17 has no identity in a partitioned table.
 */
export const reads = (schema: string) => `
create sequence personal_reads_id_seq;
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
      'lead export', 'find by email', 'find by lead id', 'find by partner_lead_id', 'find by webhook')),
  constraint personal_reads_reader_check check ((key_id is null) = (staff is not null)),
  primary key (at, id)
) partition by range (at);
alter sequence personal_reads_id_seq owned by personal_reads.id;
create index personal_reads_lead_id_index on personal_reads (lead_id, at);
create index personal_reads_key_id_index on personal_reads (key_id, at) where key_id is not null;
create index personal_reads_staff_index on personal_reads (partner_id, at) where staff is not null;

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
${deleteOldReads(schema)}
-- A read by staff, with the login that PostgreSQL knows. Also where nobody has made this month.
create function write_staff_read(lead int, named text, os_user text, what text)
returns bigint language sql security definer
set search_path = pg_catalog, ${schema}, pg_temp as $$
  select make_months_of_reads();
  insert into personal_reads (at, lead_id, partner_id, staff, os_user, database_user, what)
  select clock_timestamp(), id, partner_id, $2, $3, session_user, $4 from leads where id = $1
  returning id
$$;

select make_months_of_reads();
`
