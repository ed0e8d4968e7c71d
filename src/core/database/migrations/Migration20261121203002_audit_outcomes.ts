import { Migration } from '@mikro-orm/migrations'

/** What came of what staff did. A row is never changed: a second one says how the first one ended. */
export class Migration20261121203002_audit_outcomes extends Migration {
  override up(): void {
    // what was written until now was committed together with what it tells of
    this.addSql(`alter table "audit" add column "outcome" text not null default 'done'`)
    this.addSql(`alter table "audit" alter column "outcome" drop default`)
    this.addSql(`alter table "audit" add column "begun_id" int null`)
    this.addSql(
      `alter table "audit" add constraint "audit_outcome_check" check (outcome in ('begun', 'done', 'failed', 'unknown'))`,
    )
    this.addSql(
      `alter table "audit" add constraint "audit_begun_check" check (case outcome when 'begun' then begun_id is null when 'done' then true else begun_id is not null end)`,
    )
    this.addSql(`alter table "audit" add constraint "audit_begun_id_unique" unique ("begun_id")`)
  }
}
