/** Whose record the database holds, what was lost of it, and the keys under which it is encrypted. */
export const record = `
create table deployment (
  id uuid primary key,
  environment text not null
    constraint deployment_environment_check check (environment in ('sandbox', 'production')),
  created_at timestamptz not null default now(),
  generation int not null default 1,
  system_identifier text,
  timeline int,
  alive_at timestamptz
);
create unique index deployment_only_one_index on deployment ((true));

create table restores (
  generation int primary key,
  at timestamptz not null default clock_timestamp(),
  cause text not null
    constraint restores_cause_check check (cause in ('system_identifier', 'timeline', 'workflow', 'staff')),
  reached_until timestamptz,
  finished_at timestamptz,
  seen_at timestamptz
);

create table losses (
  generation int,
  lead_id int,
  dedupe_key text,
  partner_id int not null,
  event_name text,
  happened_at timestamptz,
  is_recorded_again boolean not null,
  noticed_at timestamptz not null default clock_timestamp(),
  primary key (generation, lead_id, dedupe_key)
);
create index losses_partner_id_index on losses (partner_id);

create table encryption_keys (
  id text primary key,
  first_used_at timestamptz not null default clock_timestamp(),
  retired_at timestamptz
);
`
