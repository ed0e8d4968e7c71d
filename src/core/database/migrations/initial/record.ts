/** Whose record the database holds, and the keys under which it is encrypted. */
export const record = `
create table deployment (
  id uuid primary key,
  environment text not null
    constraint deployment_environment_check check (environment in ('sandbox', 'production')),
  created_at timestamptz not null default now(),
  epoch int not null
);
create unique index deployment_only_one_index on deployment ((true));

create function current_epoch() returns int language sql stable as $$
  select coalesce((select epoch from deployment), 1)
$$;

create table encryption_keys (
  id text primary key,
  first_used_at timestamptz not null default clock_timestamp(),
  retired_at timestamptz
);
`
