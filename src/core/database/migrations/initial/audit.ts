/** Who may record events is the service, or the owner; everyone else acts under the name of their login. */
const IS_SERVICE = `has_table_privilege(session_user, 'lead_events', 'insert')`
/** The `previous_hash` of the first row. */
const BEGINNING = String.raw`'\x${'00'.repeat(32)}'::bytea`

/**
 * The audit only grows, and each row holds the hash of the one before. docs/operations/staff-and-audit.md states the rule,
 * and src/capabilities/audit/statements/audit-chain.ts computes it outside PostgreSQL. A change to either changes the hashes
 * of older rows.
 * Its functions find their own tables, also where a session has a temporary one of that name.
 */
export const audit = (schema: string) => `
-- not an identity: a default is computed before the trigger can wait for the lock, so the trigger takes the number
create sequence audit_id_seq;
create table audit (
  id bigint primary key,
  at timestamptz not null default clock_timestamp(),
  actor text not null,
  staff_name text,
  action text not null,
  outcome text not null
    constraint audit_outcome_check check (outcome in ('begun', 'done', 'failed', 'unknown')),
  begun_id bigint
    constraint audit_begun_id_unique unique,
  partner_id int,
  lead_id int,
  detail jsonb,
  os_user text,
  host text,
  database_user text,
  previous_hash bytea not null
    constraint audit_previous_hash_unique unique,
  hash bytea not null,
  constraint audit_begun_check check (
    case outcome when 'begun' then begun_id is null when 'done' then true else begun_id is not null end
  )
);
alter sequence audit_id_seq owned by audit.id;
create index audit_at_index on audit (at);
create index audit_partner_id_index on audit (partner_id, at);
create index audit_lead_id_index on audit (lead_id, id) where lead_id is not null;

-- Of each field that is not null, in the order of their names, as name:bytes:value and a line feed.
create function audit_hash(entry audit) returns bytea language sql stable
return (
  select sha256(convert_to(string_agg(
    format(E'%s:%s:%s\\n', name, octet_length(convert_to(value, 'UTF8')), value), '' order by name collate "C"
  ), 'UTF8'))
  from (values
    ('action', entry.action),
    ('actor', entry.actor),
    ('at', to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')),
    ('begun_id', entry.begun_id::text),
    ('database_user', entry.database_user),
    ('detail', entry.detail::text),
    ('host', entry.host),
    ('id', entry.id::text),
    ('lead_id', entry.lead_id::text),
    ('os_user', entry.os_user),
    ('outcome', entry.outcome),
    ('partner_id', entry.partner_id::text),
    ('previous_hash', encode(entry.previous_hash, 'hex')),
    ('staff_name', entry.staff_name)
  ) as field (name, value)
  where value is not null
);

create function audit_append_only() returns trigger language plpgsql
set search_path = pg_catalog, ${schema}, pg_temp as $$
begin
  if tg_op <> 'INSERT' then
    raise exception 'the audit is append-only: % is refused', lower(tg_op) using errcode = 'insufficient_privilege';
  end if;
  lock table lock_audit in share update exclusive mode;
  new.id := nextval('audit_id_seq');
  new.at := clock_timestamp();
  new.database_user := session_user;
  select hash into new.previous_hash from audit order by id desc limit 1;
  new.previous_hash := coalesce(new.previous_hash, ${BEGINNING});
  new.hash := audit_hash(new);
  return new;
end $$;
create trigger audit_chain before insert on audit
  for each row execute function audit_append_only();
create trigger audit_append_only before update or delete or truncate on audit
  for each statement execute function audit_append_only();

-- Who acts is what PostgreSQL knows. Only the service's own login may name another actor, a key for example.
create function write_audit(
  named text, action text, outcome text, begun_id bigint, partner_id int, lead_id int, detail jsonb, os_user text, host text
) returns bigint language sql security definer
set search_path = pg_catalog, ${schema}, pg_temp as $$
  insert into audit (actor, staff_name, action, outcome, begun_id, partner_id, lead_id, detail, os_user, host)
  values (
    case when ${IS_SERVICE} then $1 else session_user::text end,
    case when ${IS_SERVICE} then null else nullif($1, session_user::text) end,
    $2, $3, $4, $5, $6, $7, $8, $9
  )
  returning id
$$;
revoke all on function write_audit from public;
`
