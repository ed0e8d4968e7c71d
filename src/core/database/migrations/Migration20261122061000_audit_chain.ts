import { Migration } from '@mikro-orm/migrations'

/** An advisory lock that a transaction holds from its first row of the audit until it ends. */
const LOCK = 7_247_061
/** The `previous_hash` of the first row. */
const BEGINNING = String.raw`'\x${'00'.repeat(32)}'::bytea`

/**
 * The audit only grows, and each row holds the hash of the one before. The rule is in docs/operations.md, and the code in
 * src/capabilities/audit/statements/audit-chain.ts computes the same outside PostgreSQL; whoever changes one changes what rows from before hash to.
 */
export class Migration20261122061000_audit_chain extends Migration {
  override async up(): Promise<void> {
    const rows = await this.execute('select quote_ident(current_schema()) as schema')
    const schema = String(rows[0]?.schema)
    this.addSql(
      `alter table "audit" add column "os_user" text null, add column "host" text null, add column "database_user" text null, add column "previous_hash" bytea null, add column "hash" bytea null`,
    )
    this.numberUnderTheLock()
    this.addSql(HASH)
    this.addSql(CHAIN_EXISTING)
    this.addSql(
      `alter table "audit" alter column "previous_hash" set not null, alter column "hash" set not null, add constraint "audit_previous_hash_unique" unique ("previous_hash")`,
    )
    this.addSql(appendOnly(schema))
    this.addSql(
      'create trigger audit_chain before insert on audit for each row execute function audit_append_only()',
    )
    this.addSql(
      'create trigger audit_append_only before update or delete or truncate on audit for each statement execute function audit_append_only()',
    )
  }

  /** A default is computed before a trigger can wait for the lock, so the trigger takes the number itself. */
  private numberUnderTheLock(): void {
    this.addSql(`create sequence audit_next_id as int owned by "audit"."id"`)
    this.addSql(`select setval('audit_next_id', nextval(pg_get_serial_sequence('audit', 'id')), false)`)
    this.addSql(`alter table "audit" alter column "id" drop identity`)
    this.addSql(`alter sequence audit_next_id rename to audit_id_seq`)
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
      ('previous_hash', encode(entry.previous_hash, 'hex'))
    ) as field (name, value)
    where value is not null
  )`

const CHAIN_EXISTING = `
  do $$
  declare
    entry audit;
    previous bytea := ${BEGINNING};
  begin
    for entry in select * from audit order by id loop
      entry.previous_hash := previous;
      previous := audit_hash(entry);
      update audit set previous_hash = entry.previous_hash, hash = previous where id = entry.id;
    end loop;
  end $$`

/** Finds its own table, also where a session has a temporary one of that name. */
const appendOnly = (schema: string) => `
  create function audit_append_only() returns trigger language plpgsql
  set search_path = pg_catalog, ${schema}, pg_temp as $$
  begin
    if tg_op <> 'INSERT' then
      raise exception 'the audit is append-only: % is refused', lower(tg_op) using errcode = 'insufficient_privilege';
    end if;
    perform pg_advisory_xact_lock(${LOCK});
    new.id := nextval('audit_id_seq');
    new.at := clock_timestamp();
    new.database_user := session_user;
    select hash into new.previous_hash from audit order by id desc limit 1;
    new.previous_hash := coalesce(new.previous_hash, ${BEGINNING});
    new.hash := audit_hash(new);
    return new;
  end $$`
