/** Webhooks, the requests that they took, and the mails about them. */
export const deliveries = `
create table deliveries (
  event_id text primary key
    constraint deliveries_event_id_foreign references lead_events on update cascade on delete restrict,
  lead_id int not null
    constraint deliveries_lead_id_foreign references leads on delete restrict,
  partner_id int not null
    constraint deliveries_partner_id_foreign references partners on delete restrict,
  sequence int not null,
  body text not null,
  state text not null default 'pending'
    constraint deliveries_state_check check (state in ('pending', 'delivered', 'given_up', 'canceled')),
  round int not null default 0,
  failures int not null default 0,
  next_attempt_at timestamptz not null,
  last_but_one_at timestamptz,
  lease text,
  leased_until timestamptz,
  interruptions int not null default 0,
  settled_at timestamptz,
  resend_requested_at timestamptz,
  fault text,
  request_id uuid,
  constraint deliveries_sequence_unique unique (lead_id, sequence),
  constraint deliveries_sequence_check check (sequence >= 1 and failures >= 0),
  constraint deliveries_settled_check check ((state = 'pending') = (settled_at is null)),
  constraint deliveries_lease_check check ((lease is null) = (leased_until is null))
);
create index deliveries_state_index on deliveries (state, partner_id, event_id);
create index deliveries_open_index on deliveries (partner_id, next_attempt_at) where state = 'pending';

create table attempts (
  id text primary key,
  event_id text not null
    constraint attempts_event_id_foreign references lead_events on delete restrict,
  partner_id int not null,
  number int not null,
  trigger text not null
    constraint attempts_trigger_check check (trigger in ('scheduled', 'resend', 'replay', 'probe')),
  endpoint_revision int not null,
  url text not null,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  duration_ms int,
  address text,
  status int,
  error_code text,
  hint text,
  response_headers jsonb,
  response_body text,
  next_attempt_at timestamptz,
  signed_at timestamptz,
  signature text,
  constraint attempts_number_unique unique (event_id, number)
);
create index attempts_partner_id_index on attempts (partner_id, id);

create table notices (
  partner_id int
    constraint notices_partner_id_foreign references partners on delete restrict,
  kind text,
  owed_at timestamptz,
  event_id text,
  sent_at timestamptz,
  primary key (partner_id, kind, owed_at)
);
`
