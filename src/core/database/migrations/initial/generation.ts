/** How the generation of the record is raised, with the rights of whoever does it: see src/core/record/statements/generation.ts. */
export const generation = `
-- The cluster that this session is connected to, and the timeline of what it writes now: pg_control_checkpoint has that
-- only after a checkpoint. A server that recovers has none yet.
create function current_cluster(out system_identifier text, out timeline int) language sql as $$
  select control.system_identifier::text,
    case when not pg_is_in_recovery() then
      ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int
    end
  from pg_control_system() as control
$$;

-- Generations count seconds, the first one too, so that none is given again: neither one that was lost itself, with what
-- the record forgot, nor one of a record that this one took the place of.
create function next_generation(previous int) returns int language sql as $$
  select greatest(previous + 1, extract(epoch from clock_timestamp() - timestamptz '2026-01-01 00:00Z')::int)
$$;

-- Raises the generation, unless it is another one than expected by now, and returns what it is then. Ids are left out, so
-- that none is given again that the record does not know of any more: of every table, as an exclusive lock keeps others from
-- taking one meanwhile. How far the record reaches is only known before a worker is at work.
create function raise_generation(cause text, expected int default null) returns int language plpgsql as $$
declare
  leads_left_out constant int := 1000000;
  ids_left_out constant int := 1000;
  raised record;
begin
  -- who records reads the generation under a lock of this table, so nobody records in an earlier one after this
  lock table leads in exclusive mode;
  update deployment set generation = next_generation(generation)
  where expected is null or generation = expected
  returning generation, alive_at into raised;
  if found then
    insert into restores (generation, cause, reached_until)
    values (raised.generation, cause, case when cause in ('system_identifier', 'timeline') then raised.alive_at end);
    perform setval(
      format('%I.%I', schemaname, sequencename)::regclass,
      least(max_value, coalesce(last_value, 0)
        + case when sequencename = 'leads_id_seq' then leads_left_out else ids_left_out end)
    )
    from pg_sequences where schemaname = current_schema();
  end if;
  return (select generation from deployment);
end $$;

-- Raises the generation if this cluster is another one than the record knows, which knows none at first.
create function note_cluster() returns void language plpgsql as $$
declare
  here record;
  changed text;
begin
  select * into here from current_cluster();
  update deployment set system_identifier = here.system_identifier, timeline = here.timeline
  where system_identifier is null;
  -- another session may have noted it while this one waited for the row: then there is nothing to lock for
  if found or exists (
    select from deployment where (system_identifier, timeline) = (here.system_identifier, here.timeline)
  ) then
    return;
  end if;
  lock table leads in exclusive mode;
  select case
    when system_identifier <> here.system_identifier then 'system_identifier'
    when timeline <> here.timeline then 'timeline'
  end into changed from deployment;
  -- another session may have noted it while this one waited for the lock
  if changed is not null then
    update deployment set system_identifier = here.system_identifier, timeline = here.timeline;
    perform raise_generation(changed);
  end if;
end $$;
`
