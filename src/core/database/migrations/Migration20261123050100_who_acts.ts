import { Migration } from '@mikro-orm/migrations'

/** The `previous_hash` of the first row. */
const BEGINNING = String.raw`'\x${'00'.repeat(32)}'::bytea`

/**
 * Who acts and who reads is what PostgreSQL knows: rows of the audit, and of reads by staff, are written by two functions,
 * which take the login from the session. Only the service's own login may name another actor, a key for example.
 */
export class Migration20261123050100_who_acts extends Migration {
  override async up(): Promise<void> {
    const rows = await this.execute('select quote_ident(current_schema()) as schema')
    const path = `pg_catalog, ${String(rows[0]?.schema)}, pg_temp`
    // the function depends on the columns that change
    this.addSql('drop trigger audit_chain on audit')
    this.addSql('drop function audit_hash(audit)')
    this.addSql('alter sequence audit_id_seq as bigint')
    this.addSql(
      'alter table "audit" alter column "id" type bigint, alter column "begun_id" type bigint, add column "staff_name" text null',
    )
    this.addSql(HASH)
    this.addSql(appendOnly(path))
    this.addSql(
      'create trigger audit_chain before insert on audit for each row execute function audit_append_only()',
    )
    this.addSql(writeAudit(path))
    this.addSql('alter table "personal_reads" add column "database_user" text null')
    this.addSql(writeStaffRead(path))
    for (const called of [WRITE_AUDIT, WRITE_STAFF_READ])
      this.addSql(`revoke all on function ${called} from public`)
  }
}

/** Each field that is not null, in the order of their names, as `name:bytes:value` and a line feed. */
const HASH = `
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
  )`

/** Finds its own tables, also where a session has a temporary one of that name. */
const appendOnly = (path: string) => `
  create or replace function audit_append_only() returns trigger language plpgsql
  set search_path = ${path} as $$
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
  end $$`

/** Who may record events is the service, or the owner; everyone else acts under the name of their login. */
const IS_SERVICE = `has_table_privilege(session_user, 'lead_events', 'insert')`

const WRITE_AUDIT = 'write_audit(text, text, text, bigint, int, int, jsonb, text, text)'
const writeAudit = (path: string) => `
  create function write_audit(
    named text, action text, outcome text, begun_id bigint, partner_id int, lead_id int, detail jsonb, os_user text, host text
  ) returns bigint language sql security definer set search_path = ${path} as $$
    insert into audit (actor, staff_name, action, outcome, begun_id, partner_id, lead_id, detail, os_user, host)
    values (
      case when ${IS_SERVICE} then $1 else session_user::text end,
      case when ${IS_SERVICE} then null else nullif($1, session_user::text) end,
      $2, $3, $4, $5, $6, $7, $8, $9
    )
    returning id
  $$`

const WRITE_STAFF_READ = 'write_staff_read(int, text, text, text)'
const writeStaffRead = (path: string) => `
  create function write_staff_read(lead int, named text, os_user text, what text)
  returns bigint language sql security definer set search_path = ${path} as $$
    insert into personal_reads (at, lead_id, partner_id, staff, os_user, database_user, what)
    select clock_timestamp(), id, partner_id, $2, $3, session_user, $4 from leads where id = $1
    returning id
  $$`
